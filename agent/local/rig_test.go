package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeAgent keeps holds in memory, by the rules that the interfaces state.
type fakeAgent struct {
	mu    sync.Mutex
	holds map[string]Hold
	calls []string
}

func (f *fakeAgent) called(format string, args ...any) {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fakeAgent) Status() (Status, error) { return Status{Agent: "rack-a-1", Rack: "rack-a"}, nil }

func (f *fakeAgent) Servers() []Summary {
	return []Summary{{Phase: resource.PhaseReserved, ServerReport: resource.ServerReport{Server: "n1"}}}
}

func (f *fakeAgent) Server(name string) (Server, error) {
	if name != "n1" {
		return Server{}, protocol.Errorf(protocol.CodeNotFound, "show a server", "no server %q", name).WithHint("look at the list")
	}
	return Server{Name: name, Report: resource.ServerReport{Server: name, Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable}}}}, nil
}

func (f *fakeAgent) Holds() (all []Hold, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.holds {
		all = append(all, h)
	}
	return all, nil
}

func (f *fakeAgent) Trace(server string, serial int) (resource.Trace, error) {
	if server != "n1" {
		return resource.Trace{}, protocol.Errorf(protocol.CodeNotFound, "trace", "no server %q", server)
	}
	return resource.Trace{Server: server, Serial: serial}, nil
}

func (f *fakeAgent) Mirror() (resource.MirrorStatus, error) {
	return resource.MirrorStatus{Quota: 20, Repositories: []resource.MirrorRepository{{URL: "https://deb.example/", Objects: 3, Answers: resource.MirrorReached}}}, nil
}

func (f *fakeAgent) Flush(_ context.Context, what string, force bool) (resource.MirrorFlushed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called("flush %q %t", what, force)
	if what == "away" && !force {
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeConflict, "flush", "it does not answer").WithHint("--force")
	}
	return resource.MirrorFlushed{What: what, Objects: 3, Bytes: 7}, nil
}

func (f *fakeAgent) Place(h resource.ActiveHold) (Hold, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called("place %s %s %s", h.Server, h.Key, h.Owner)
	for _, o := range f.holds {
		if o.Server == h.Server && o.Key == h.Key && o.Owner == h.Owner {
			return o, false, nil
		}
	}
	f.holds[h.ID] = Hold{ActiveHold: h, Word: resource.HoldEnforced, Local: true}
	return f.holds[h.ID], true, nil
}

func (f *fakeAgent) Release(id, by, reason string) (Hold, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called("release %s %s %q", id, by, reason)
	h, ok := f.holds[id]
	if ok && h.Owner != by && reason == "" {
		return Hold{}, protocol.Errorf(protocol.CodeDenied, "release", "it is %s's", h.Owner).WithHint("give a reason")
	}
	h.Word, h.Released = resource.HoldReleased, &resource.Release{HoldID: id, By: by, Reason: reason}
	delete(f.holds, id)
	return h, nil
}

func (f *fakeAgent) Resume(r resource.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called("resume %s %s %s %q", r.Server, r.Action, r.By, r.Why)
	return nil
}

func (f *fakeAgent) Confirm(id, by, reason string) (Hold, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.called("confirm %s %s %q", id, by, reason)
	return f.holds[id], nil
}

// rig is an API on a socket.
type rig struct {
	agent  *fakeAgent
	path   string
	api    *API
	client *Client
	reg    *prometheus.Registry
	stop   func() error
}

// me is the owner of the tests' user, whom the host need not know.
const me = OwnerPrefix + "me"

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{agent: &fakeAgent{holds: map[string]Hold{}}, path: shortPath(t), reg: prometheus.NewRegistry()}
	ids := 0
	r.api = New(Config{
		Reader: r.agent, Writer: r.agent, Logger: slog.New(slog.DiscardHandler), Registerer: r.reg,
		NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) },
		UserName: func(uid string) (string, error) {
			if uid != fmt.Sprint(os.Getuid()) {
				return "", fmt.Errorf("user %s", uid)
			}
			return strings.TrimPrefix(me, OwnerPrefix), nil
		},
	})
	l, err := Socket{Path: r.path}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.api.Run(ctx, l) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	r.client = NewClient(r.path)
	return r
}

// shortPath is a path that fits into a socket's address, whatever the test's name.
func shortPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// raw sends a request as it is.
func (r *rig) raw(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.path)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, "http://agent"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
