package site

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// upstream is a package repository, as long as it answers.
type upstream struct {
	*httptest.Server
	away atomic.Bool
	gets atomic.Int32
}

func newUpstream(t *testing.T, files map[string]string) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/demo/")]
		switch {
		case u.away.Load():
			w.WriteHeader(http.StatusBadGateway)
			return
		case !ok:
			http.NotFound(w, r)
			return
		case r.Method == http.MethodGet:
			u.gets.Add(1)
		}
		http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(content))
	}))
	t.Cleanup(u.Close)
	return u
}

// repositoryObjects are an environment whose kernel comes from a repository.
func repositoryObjects(url string) []resource.Object {
	out := envObjects("deb.example")
	out[0].(*resource.Profile).Spec.Params[resource.ParamPackageRepositories] = []any{map[string]any{
		"tag": "demo-1", "repoType": "apt", "os": []any{"demo-1"}, "arch": "amd64", "url": url, "installSource": true, "distribution": "demo", "components": []any{"main"},
	}}
	out[2].(*resource.BootEnv).Spec.OS.SupportedArchitectures["amd64"] = resource.EnvArch{UKI: "EFI/Linux.efi"}
	return out
}

// TestMirror: the hub has the rack's agent say what it has of a repository, through its link, and
// forget it. A repository that goes away is seen, with when it was reached last and how it fails,
// and what is cached of it is dropped by force only. A server that is installed boots on without
// it. A flush is recorded; an agent that is away is not asked later.
func TestMirror(t *testing.T) {
	t.Parallel()
	up := newUpstream(t, map[string]string{"EFI/Linux.efi": envUKI})
	s := newSite(t, 1)
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.startHub()
	s.apply(s.manifests()...)
	s.apply(repositoryObjects(up.URL + "/demo")...)
	c := s.firstAgent()
	c.Repositories = agentdaemon.Repositories{QuotaMiB: 64, Bases: []agentdaemon.Repository{{URL: up.URL + "/demo"}, {URL: "http://127.0.0.1:1/quiet"}}}
	c.Socket = filepath.Join(s.dir, "agent.sock")
	if _, err := s.client.Agents.Mirror(t.Context(), rackName); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "join-token") {
		t.Errorf("of a rack without an agent: %v", err)
	}
	s.join(c)
	stopAgent := s.startAgent(c)
	status := func() (demo, quiet resource.MirrorRepository, all resource.MirrorStatus) {
		t.Helper()
		all, err := s.client.Agents.Mirror(t.Context(), rackName)
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Repositories) != 2 {
			t.Fatalf("%+v", all)
		}
		slices.SortFunc(all.Repositories, func(a, b resource.MirrorRepository) int { return strings.Compare(b.URL, a.URL) })
		for _, r := range all.Repositories {
			if r.URL == up.URL+"/demo/" {
				demo = r
			} else {
				quiet = r
			}
		}
		return demo, quiet, all
	}
	flush := func(what string, force bool) (resource.MirrorFlushed, error) {
		return s.client.Agents.Flush(t.Context(), rackName, api.FlushRequest{What: what, Force: force, Reason: "wrong key"})
	}
	s.until("the agent's greeting", func() bool {
		_, err := s.client.Agents.Mirror(t.Context(), rackName)
		return err == nil
	}, func() any { return "silence" })
	if demo, _, all := status(); demo.Answers != resource.MirrorNotAsked || demo.Objects != 0 || all.Rack != rackName || all.Agent != "r1-1" || all.Quota != 64<<20 {
		t.Errorf("before the first boot: %+v", all)
	}

	claim := s.claim("n1")
	claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-1-install"}
	s.apply(claim)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	demo, quiet, all := status()
	if demo.Objects != 1 || demo.Bytes != int64(len(envUKI)) || demo.Fresh != 1 || demo.Answers != resource.MirrorReached || demo.Reached == nil || demo.Validated == nil || demo.Missed == 0 || demo.Failed != nil || all.Used == 0 {
		t.Errorf("after it: %+v", all)
	}
	if quiet.Answers != resource.MirrorNotAsked || quiet.Objects != 0 {
		t.Errorf("nobody has asked it: %+v", quiet)
	}

	// It goes away: what is cached is all that boots have.
	up.away.Store(true)
	if _, err := flush("", false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--force") {
		t.Errorf("while it is away: %v", err)
	}
	demo, _, _ = status()
	if demo.Objects != 1 || demo.Answers != resource.MirrorFails || demo.Code != protocol.CodeUnavailable || !strings.Contains(demo.Why, "502") || demo.Failed == nil || demo.BackedOff == nil || demo.Reached == nil {
		t.Errorf("while it is away: %+v", demo)
	}
	if _, err := flush("http://other.example/", true); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("of no repository: %v", err)
	}
	if _, err := flush("/demo/../x", true); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("of no path: %v", err)
	}
	if f, err := flush("/demo/EF", true); err != nil || f.Objects != 0 {
		t.Errorf("of half a name: %+v, %v", f, err)
	}
	f, err := flush("/demo/EFI", true)
	if err != nil || f.Objects != 1 || f.Bytes != int64(len(envUKI)) || f.Kept != 0 || f.Rack != rackName {
		t.Errorf("by force: %+v, %v", f, err)
	}
	if f, err := flush("/demo/EFI", true); err != nil || f.Objects != 0 {
		t.Errorf("once more: %+v, %v", f, err)
	}
	if demo, _, all := status(); demo.Objects != 0 || all.Used != 0 {
		t.Errorf("after the flush: %+v", all)
	}
	s.until("the audit entry", func() bool {
		list, err := s.client.Audit.List(t.Context(), api.AuditQuery{Limit: api.MaxAuditPage, Target: "Rack/" + rackName})
		return err == nil && slices.ContainsFunc(list.Items, func(e protocol.AuditEntry) bool {
			return e.Op == "flush" && e.Outcome == protocol.AuditAccepted && e.Reason == "wrong key"
		}) && slices.ContainsFunc(list.Items, func(e protocol.AuditEntry) bool {
			return e.Op == "flush" && e.Outcome == protocol.AuditRefused && e.Code == protocol.CodeConflict
		})
	}, func() any { return "none" })

	// The server boots on from its disk.
	s.reboot("n1")
	s.untilServer("n1", "the disk boot after the flush", diskBoot)
	up.away.Store(false)
	if up.gets.Load() != 1 {
		t.Errorf("fetched %d times", up.gets.Load())
	}

	// Without the hub, at the agent's host.
	s.stopHub()
	at := local.NewClient(c.Socket)
	if all, err := at.Mirror(t.Context()); err != nil || len(all.Repositories) != 2 {
		t.Errorf("at the host: %+v, %v", all, err)
	}
	if f, err := at.Flush(t.Context(), api.FlushRequest{}); err != nil || f.Objects != 0 {
		t.Errorf("at the host: %+v, %v", f, err)
	}
	s.startHub()
	s.until("the agent's greeting", func() bool {
		_, err := s.client.Agents.Mirror(t.Context(), rackName)
		return err == nil
	}, func() any { return "silence" })

	// An agent that went away is said to be, within the time of a question.
	stopAgent()
	began := time.Now()
	if _, err := flush("", true); protocol.CodeOf(err) != protocol.CodeTimeout && protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("of an agent that is away: %v", err)
	}
	if took := time.Since(began); took > 3*api.MirrorWait {
		t.Errorf("answered after %s", took)
	}
}
