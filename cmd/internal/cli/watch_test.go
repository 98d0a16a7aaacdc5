package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	config := filepath.Join(t.TempDir(), "config.yaml")
	ca, err := json.Marshal(string(hub.CA))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("current: t\ncontexts:\n- {name: t, url: %q, ca: %s, token: %s}\n", hub.URL, ca, apitest.Token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out = &output{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, Config{Args: args, Out: out, Err: out, In: strings.NewReader(""), Getenv: func(k string) string {
			if k == "RACKCTL_CONFIG" {
				return config
			}
			return ""
		}})
	}()
	return out, func() int { cancel(); return <-code }
}

func TestGetWatchShowsWhatChanges(t *testing.T) {
	hub := apitest.New(t)
	if _, err := hub.Client(t).Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "get", "servers", "-w")
	out.await(t, "n2")
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
	if _, err := hub.Client(t).Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	out, stop := start(t, hub, "wait", "server/n1", "--for", "phase=Error")
	out.await(t, "server/n1: server n1 -")
	if code := stop(); code != protocol.CodeTimeout.ExitCode() || !strings.Contains(out.text(), "interrupted") {
		t.Errorf("exit code %d\n%s", code, out.text())
	}
}

// A condition is hidden until it has lasted, and an unknown one is shown.
func TestVisibleConditions(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	since := func(code resource.ConditionCode, ago time.Duration) resource.ConditionState {
		return resource.ConditionState{Code: code, Since: now.Add(-ago)}
	}
	for _, row := range []struct {
		in   []resource.ConditionState
		want string
	}{
		{nil, ""},
		{[]resource.ConditionState{since(resource.CondArtefactsPending, 29*time.Second)}, ""},
		{[]resource.ConditionState{since(resource.CondArtefactsPending, 30*time.Second)}, "ArtefactsPending"},
		{[]resource.ConditionState{since(resource.CondHeld, 0), since("OfANewerAgent", 0)}, "Held,OfANewerAgent"},
	} {
		if got := conditionCodes(row.in, now); got != row.want {
			t.Errorf("%v: %q, want %q", row.in, got, row.want)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Minute: "0s", 5 * time.Second: "5s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		119 * time.Minute: "119m", 3 * time.Hour: "3h", 49 * time.Hour: "2d",
	} {
		at := now.Add(-ago)
		if got := age(&at, now); got != want {
			t.Errorf("%s: %q, want %q", ago, got, want)
		}
	}
	if age(nil, now) != "" || age(&time.Time{}, now) != "" {
		t.Error("no time has an age")
	}
}

func TestSelector(t *testing.T) {
	labels := map[string]string{"row": "7", "site": "a"}
	for text, want := range map[string]bool{"": true, "row=7": true, "row==7": true, "row": true, "row=8": false, "rack": false, "row=7,site=a": true, "row=7, site=b": false, "row=": false} {
		sel, err := parseSelector(text)
		if err != nil || sel.matches(labels) != want {
			t.Errorf("%q: %v, want %v (%v)", text, !want, want, err)
		}
	}
	for _, text := range []string{"=7", "row!=7"} {
		if _, err := parseSelector(text); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
