package images

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// registry resolves a tag to another digest each time, and does not answer while it is down.
type registry struct {
	down  bool
	asked int
}

func (g *registry) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	if g.down {
		return resource.Image{}, protocol.Errorf(protocol.CodeUnavailable, "resolve", "registry does not answer")
	}
	g.asked++
	return resource.Image{Reference: ref, Digest: fmt.Sprintf("sha256:%064d", g.asked), Architecture: arch}, nil
}

func (g *registry) Require(resource.Image, protocol.BootTarget) error { return nil }

// Claims that wait for the same image are answered together, with what the registry says once; who
// comes later asks anew, and so does each who had no answer.
func TestManyWaitForOneImage(t *testing.T) {
	mem, now := storetest.NewMemory(), time.Unix(1, 0)
	clock := func() time.Time { return now }
	st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: clock, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	images := &registry{down: true}
	r := New(Config{BootImages: st.BootImages, Objects: st.Objects, Registry: images, Wake: wake.New(wake.Config{Store: st}), Clock: clock}).resolver
	of := func(claim string) Question {
		return Question{Asker: claim, Reference: "registry.example/os:1", Architecture: "amd64", Method: protocol.TargetUefiHTTP}
	}
	digests := func(claims ...string) (out []string) {
		for _, c := range claims {
			img, _ := r.get("rack/r1", of(c))
			if img == nil {
				out = append(out, "")
				continue
			}
			out = append(out, img.Digest[len(img.Digest)-1:])
		}
		return out
	}
	tries := func() {
		now = now.Add(resolvePauseMax)
		r.jobs.Work(t.Context())
	}
	first := []string{"c1", "c2", "c3"}
	digests(first...)
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"", "", ""}) {
		t.Errorf("no registry answers, and there are %q", got)
	}
	images.down = false
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"1", "1", "1"}) || images.asked != 1 {
		t.Errorf("got %q, asked %d times", got, images.asked)
	}
	later := []string{"c4", "c5", "c1"}
	digests(later...)
	tries()
	if got := digests(later...); !slices.Equal(got, []string{"2", "2", "1"}) || images.asked != 2 {
		t.Errorf("later got %q, asked %d times", got, images.asked)
	}
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5"} {
		r.forgetOf(c)
	}
	if n := len(r.found) + len(r.last) + len(r.waits) + len(r.wanted); n != 0 {
		t.Errorf("%d are kept of claims that are gone", n)
	}
}

// hanging is a registry that never answers, as one behind a firewall that drops packets; all
// others answer at once.
type hanging struct {
	name string
	now  atomic.Int64
	most atomic.Int64
}

func (g *hanging) Resolve(ctx context.Context, ref, arch string) (resource.Image, error) {
	if !strings.HasPrefix(ref, g.name+"/") {
		return resource.Image{Reference: ref, Digest: "sha256:1", Architecture: arch}, nil
	}
	g.most.Store(max(g.most.Load(), g.now.Add(1)))
	<-ctx.Done()
	g.now.Add(-1)
	return resource.Image{}, protocol.Errorf(protocol.CodeTimeout, "resolve "+ref, "%w", ctx.Err())
}

func (*hanging) Require(resource.Image, protocol.BootTarget) error { return nil }

// A registry that hangs keeps nobody waiting who asks another, is asked one thing at a time, and
// everybody who waits for it is told so, also before its own turn.
func TestHangingRegistryHoldsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { synctest.Wait() }()
		hangs := &hanging{name: "hangs.example"}
		room := New(Config{BootImages: st.BootImages, Objects: st.Objects, Registry: hangs, Wake: wake.New(wake.Config{Store: st}), Clock: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			room.Run(ctx)
			close(ended)
		}()
		defer func() {
			cancel()
			<-ended
		}()
		of := func(claim, registry string) Question {
			return Question{Asker: claim, Reference: registry + "/" + claim + ":1", Architecture: "amd64", Method: protocol.TargetUefiHTTP}
		}
		for i := range 5 {
			room.resolver.get("rack/r1", of(fmt.Sprintf("c%d", i), hangs.name))
		}
		synctest.Wait()
		room.resolver.get("rack/r1", of("well", "well.example"))
		synctest.Wait()
		if img, cond := room.resolver.get("rack/r1", of("well", "well.example")); img == nil {
			t.Errorf("the healthy registry's image waits: %+v", cond)
		}
		time.Sleep(resolveTimeout + time.Second)
		for i := range 5 {
			_, cond := room.resolver.get("rack/r1", of(fmt.Sprintf("c%d", i), hangs.name))
			if cond == nil || cond.Code != resource.CondRegistryUnavailable || !strings.Contains(cond.Message, hangs.name) {
				t.Errorf("claim %d: %+v", i, cond)
			}
		}
		if n := hangs.most.Load(); n != 1 {
			t.Errorf("%d questions at once", n)
		}
		want := `
# HELP rackboot_hub_registry_waiting Images that a registry is asked for and has not given yet.
# TYPE rackboot_hub_registry_waiting gauge
rackboot_hub_registry_waiting{registry="hangs.example"} 5
# HELP rackboot_hub_registry_away_seconds How long a registry that did not answer is not asked again; only of those.
# TYPE rackboot_hub_registry_away_seconds gauge
rackboot_hub_registry_away_seconds{registry="hangs.example"} 1
`
		if err := testutil.CollectAndCompare(room, strings.NewReader(want), "rackboot_hub_registry_waiting", "rackboot_hub_registry_away_seconds"); err != nil {
			t.Error(err)
		}
	})
}
