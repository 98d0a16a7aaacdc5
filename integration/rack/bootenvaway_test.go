package rack

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestBootEnvAway: what a repository does not give now is not absent for an installer, which
// would go on without it: it is told to ask again. Only the repository's own word is a 404.
func TestBootEnvAway(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	files := installFiles()
	files["away"], files["refused"], files["login"] = "HTTP 503", "HTTP 403", "HTTP 401"
	b.claimEnv(0, b.fromRepository(0, b.repository(files), nil))
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	from := b.installer(0)
	for name, want := range map[string]int{
		"dists/stable/Release": http.StatusOK, "nothing": http.StatusNotFound,
		"away": http.StatusServiceUnavailable, "refused": http.StatusServiceUnavailable, "login": http.StatusServiceUnavailable,
	} {
		status, header, got := b.get(http.MethodGet, "http://"+b.http.String()+"/machines/"+b.intents[0].UID+"/boot/"+name, from)
		if status != want || (header.Get("Retry-After") != "") != (want == http.StatusServiceUnavailable) {
			t.Errorf("%s: %d %q, Retry-After %q; want %d", name, status, got[:min(len(got), 100)], header.Get("Retry-After"), want)
		}
	}
	finish()
	b.until("the disk boot after the installation", 0, diskBoot)
}

// TestFlushUnderBoot: the hub has the mirror flushed while a server installs. Its boot goes on:
// what it began with is pinned, and what it loads next is fetched anew. The same question again,
// as a broker may deliver it, drops nothing more.
func TestFlushUnderBoot(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	b.loaders = loaderFolder(t, true)
	b.claimEnv(0, b.fromRepository(0, b.repository(installFiles()), nil))
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	from := b.installer(0)
	loads := func(name string) {
		t.Helper()
		if status, _, got := b.get(http.MethodGet, "http://"+b.http.String()+"/machines/"+b.intents[0].UID+"/boot/"+name, from); status != http.StatusOK {
			t.Errorf("%s: %d %q", name, status, got[:min(len(got), 100)])
		}
	}
	ask := func(id string, q message.Ask, into any) {
		t.Helper()
		q.ID, q.NotAfter = id, time.Now().Add(time.Minute)
		b.deliver(a, message.LeafAsk, q)
		var m message.Answer
		b.eventually("the answer to "+id, func() bool {
			var n int
			m, n = b.answer(id)
			return n > 0
		})
		if err := json.Unmarshal(m.Body, into); err != nil {
			t.Fatalf("%s: %+v, %v", id, m, err)
		}
	}
	looks := 0
	cached := func(what string, objects int) { // what was loaded is in the cache soon after its last byte
		t.Helper()
		b.eventually(what, func() bool {
			looks++
			var s resource.MirrorStatus
			ask("look-"+strconv.Itoa(looks), message.Ask{Kind: message.AskMirror}, &s)
			return len(s.Repositories) == 1 && s.Repositories[0].Answers == resource.MirrorReached && s.Pinned > 0 && s.Repositories[0].Objects == objects
		})
	}
	loads("dists/stable/Release")
	cached("the kernel, its initrd and a list", 3)
	var f resource.MirrorFlushed
	ask("flush", message.Ask{Kind: message.AskFlush}, &f)
	if f.Objects != 3 || f.Kept != 2 { // the kernel and its initrd stay
		t.Errorf("%+v", f)
	}
	cached("nothing", 0)
	loads("install.amd/vmlinuz")
	loads("dists/stable/Release")
	cached("the list", 1)
	ask("flush", message.Ask{Kind: message.AskFlush}, &f)
	cached("the list after the same question", 1)
	finish()
	b.until("the disk boot after the installation", 0, diskBoot)
}
