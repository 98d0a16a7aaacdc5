package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output collects what is written and says when it has changed.
type output struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.buf.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits until the output has the text.
func (o *output) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(o.text(), text) {
		select {
		case <-o.changed:
		case <-deadline:
			t.Fatalf("no %q in\n%s", text, o.text())
		}
	}
}

// start runs rackctl against a hub; stop ends it as Ctrl-C does and returns the
// exit code.
func start(t *testing.T, hub *apitest.Hub, args ...string) (out *output, stop func() int) {
	t.Helper()
	return startAs(t, hub, apitest.Token, args...)
}

// startAs is start with the token of another caller.
func startAs(t *testing.T, hub *apitest.Hub, token string, args ...string) (out *output, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, wait := begin(ctx, t, hub, token, args...)
	return out, func() int { cancel(); return wait() }
}

// begin runs rackctl, which ends by itself or with ctx; wait returns the exit code.
func begin(ctx context.Context, t *testing.T, hub *apitest.Hub, token string, args ...string) (out *output, wait func() int) {
	t.Helper()
	getenv := configured(t, hub, token)
	out = &output{changed: make(chan struct{}, 1)}
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, Config{Args: args, Out: out, Err: out, In: strings.NewReader(""), Getenv: getenv})
	}()
	return out, func() int { return <-code }
}

// configured is an environment that names a hub, and a caller.
func configured(t *testing.T, hub *apitest.Hub, token string) func(string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	ca, err := json.Marshal(string(hub.CA))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("current: t\ncontexts:\n- {name: t, url: %q, ca: %s, token: %s}\n", hub.URL, ca, token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(k string) string {
		if k == "RACKCTL_CONFIG" {
			return config
		}
		return ""
	}
}

func TestGetWatchShowsWhatChanges(t *testing.T) {
	hub := apitest.New(t)
	if _, err := hub.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "get", "servers", "-w")
	out.await(t, "n2")
	// That n1 was read again makes it no row; n2 is something else, and comes after it.
	hub.Fleet.SetServer("n1", resource.ServerStatus{ReadAt: new(time.Now()), Report: &resource.ServerReport{Server: "n1"}})
	hub.Fleet.SetServer("n2", resource.ServerStatus{Phase: resource.PhaseAvailable})
	out.await(t, "Available")
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(out.text(), "NAME"); n != 1 {
		t.Errorf("%d headers in\n%s", n, out.text())
	}
	if n := strings.Count(out.text(), "n1"); n != 1 {
		t.Errorf("n1 did not change and is shown %d times in\n%s", n, out.text())
	}
}

// Of names alone only what comes is shown.
func TestGetWatchOfNames(t *testing.T) {
	hub := apitest.New(t)
	if _, err := hub.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "get", "servers", "-w", "-o", "name")
	out.await(t, "server/n2")
	hub.Fleet.SetServer("n2", resource.ServerStatus{Phase: resource.PhaseAvailable})
	again := []resource.Object{storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")}
	if _, err := hub.Client(t).Objects.Delete(t.Context(), resource.KindServer, "n1"); err != nil {
		t.Fatal(err)
	}
	out.await(t, "server/n1 is gone")
	if _, err := hub.Client(t).Objects.Apply(t.Context(), again, false); err != nil {
		t.Fatal(err)
	}
	out.await(t, "server/n1\nserver/n2\nserver/n1 is gone, or is not what was asked for any more\nserver/n1\n")
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestEventsFollow(t *testing.T) {
	hub := apitest.New(t)
	hub.Fleet.AddEvent("n1", resource.CondHeld, "first")
	out, stop := start(t, hub, "events", "-f")
	out.await(t, "first")
	hub.Fleet.AddEvent("n1", resource.CondDark, "second")
	out.await(t, "second")
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if strings.Count(out.text(), "first") != 1 || strings.Count(out.text(), "INDEX") != 1 {
		t.Errorf("got\n%s", out.text())
	}
}

func TestInterruptedWaitSaysSo(t *testing.T) {
	hub := apitest.New(t)
	if _, err := hub.Client(t).Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "wait", "server/n1", "--for", "phase=Error")
	out.await(t, "server/n1: server n1 -")
	if code := stop(); code != protocol.CodeTimeout.ExitCode() || !strings.Contains(out.text(), "interrupted") {
		t.Errorf("exit code %d\n%s", code, out.text())
	}
}

// Elsewhere it is lines on stderr, one for each change, and none of a screen.
func TestRolloutWatchLines(t *testing.T) {
	hub := apitest.New(t)
	members := func(states ...resource.MemberState) *resource.RolloutStatus {
		st := &resource.RolloutStatus{Revision: 7, Strategy: resource.RolloutReboot, Phase: resource.RolloutWave, Wave: 1, Waves: 3, Members: map[string]resource.RolloutMember{}}
		for i := range 12 {
			state := resource.MemberWaiting
			if i < len(states) {
				state = states[i]
			}
			st.Members[fmt.Sprintf("n%02d", i)] = resource.RolloutMember{State: state, Wave: i / 6}
		}
		return st
	}
	g := &resource.ServerGroup{}
	g.Metadata.Name = "workers"
	g.Default()
	g.Status.Revision, g.Status.Rollout = 7, members(resource.MemberDone, resource.MemberDone, resource.MemberBegun)
	g.Spec.Selector.MatchLabels, g.Spec.Catalogue, g.Spec.BootPolicy.Boot = map[string]string{"row": "7"}, "stable", resource.BootNetwork
	if err := hub.Store.Objects.Put(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "rollout", "status", "workers", "--watch")
	out.await(t, "roll-out of group workers: wave 1 of 2: 2 of 12 done, 1 begun, 9 waiting\n")
	g.Status.Rollout = members(resource.MemberDone, resource.MemberDone, resource.MemberDone, resource.MemberSoaking)
	if err := hub.Store.Objects.Put(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	out.await(t, "roll-out of group workers: wave 1 of 2: 3 of 12 done, 1 soaking, 8 waiting\n")
	if code := stop(); code != protocol.CodeTimeout.ExitCode() {
		t.Errorf("exit code %d of one that was interrupted", code)
	}
	lines := strings.Split(strings.TrimSpace(out.text()), "\n")
	if !strings.Contains(out.text(), "interrupted") || strings.Contains(out.text(), "\x1b") || len(lines) != len(slices.Compact(lines)) {
		t.Errorf("got\n%s", out.text())
	}
}
