package group

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// groupHub is a hub that has one group, or is away while that is nil.
type groupHub struct {
	group atomic.Pointer[resource.ServerGroup]
}

// RoundTrip implements http.RoundTripper.
func (h *groupHub) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	g := h.group.Load()
	switch {
	case g == nil:
		rec.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path != api.PathObject(resource.KindServerGroup, "workers"):
		rec.WriteHeader(http.StatusNotFound)
	default:
		if err := json.NewEncoder(rec).Encode(g); err != nil {
			return nil, err
		}
	}
	return rec.Result(), nil
}

// watches follows a roll-out on a screen.
func (h *groupHub) watches(t *testing.T, w rolloutWatch) (screen, out *seen, end chan error) {
	t.Helper()
	client, err := api.NewClient(api.Config{BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: h}})
	if err != nil {
		t.Fatal(err)
	}
	screen, out, end = &seen{}, &seen{}, make(chan error, 1)
	pr := &printer.Printer{Out: out, Err: screen, Form: printer.FormTable}
	w.group, w.block = "workers", &terminal.Block{Out: screen}
	go func() { end <- watchRollout(t.Context(), pr, client, w) }()
	return screen, out, end
}

// On a screen the roll-out is written again in place, through a hub that is away; then it
// is taken away, and the whole is the output.
func TestRolloutWatchLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &groupHub{}
		shows := func(screen *seen, g *resource.ServerGroup, want string) {
			t.Helper()
			before := len(screen.text())
			h.group.Store(g)
			time.Sleep(10 * time.Second)
			if text := screen.text()[before:]; !strings.Contains(text, want) {
				t.Errorf("no %q in %q", want, text)
			}
		}
		h.group.Store(rolledOut(resource.RolloutWave, 1, "##>.........", nil))
		screen, out, end := h.watches(t, rolloutWatch{timeout: time.Hour})
		shows(screen, h.group.Load(), "# 2 done  > 1 begun  . 9 waiting")
		shows(screen, nil, "roll-out of group workers: get /v1/servergroups/workers: answered 503")
		shows(screen, rolledOut(resource.RolloutWave, 1, "###=>.......", nil), "# 3 done  = 1 soaking  > 1 begun  . 7 waiting")
		h.group.Store(rolledOut(resource.RolloutPaused, 1, "###x>.......", nil))
		var own *printer.ExitError
		if err := <-end; !errors.As(err, &own) || own.Code != exitPaused {
			t.Errorf("it ended with %v", err)
		}
		text := screen.text()
		if !strings.HasSuffix(text, "A\r\x1b[J") {
			t.Errorf("it is not taken away in %q", text)
		}
		orders := regexp.MustCompile("\x1b\\[[0-9]*[A-Z]|\r")
		for line := range strings.SplitSeq(orders.ReplaceAllString(text, ""), "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("a line of %d characters: %q", n, line)
			}
		}
		if got := out.text(); !strings.HasPrefix(got, "Group:     workers\n") || !strings.Contains(got, "\nWhat to do:\n") || strings.Contains(got, "\x1b") {
			t.Errorf("the output is\n%s", got)
		}
	})
}

// It waits for the revision that is meant, and no longer than it may.
func TestRolloutWatchEnds(t *testing.T) {
	of := func(revision int, phase resource.RolloutPhase) *resource.ServerGroup {
		return rolledOut(phase, 1, "##", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Status.Rollout.Revision = revision
		})
	}
	none := of(1, resource.RolloutWave)
	none.Status.Rollout = nil
	for _, row := range []struct {
		name         string
		watch        rolloutWatch
		first, later *resource.ServerGroup
		exit         int
		code         protocol.Code
	}{
		{"none", rolloutWatch{}, none, none, 0, protocol.CodeNotFound},
		{"none yet", rolloutWatch{revision: 1}, none, of(1, resource.RolloutCompleted), 0, ""},
		{"the one before has ended", rolloutWatch{revision: 2}, of(1, resource.RolloutFailed), of(2, resource.RolloutCompleted), 0, ""},
		{"a newer one", rolloutWatch{}, of(1, resource.RolloutWave), of(2, resource.RolloutCompleted), exitSuperseded, protocol.CodeConflict},
		{"too long", rolloutWatch{}, of(1, resource.RolloutWave), of(1, resource.RolloutWave), 0, protocol.CodeTimeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &groupHub{}
				h.group.Store(row.first)
				row.watch.timeout = 5 * time.Minute
				_, _, end := h.watches(t, row.watch)
				time.Sleep(10 * time.Second)
				h.group.Store(row.later)
				err := <-end
				exit := 0
				if own, ok := errors.AsType[*printer.ExitError](err); ok {
					exit = own.Code
				}
				if protocol.CodeOf(err) != row.code || exit != row.exit {
					t.Errorf("%v, exit code %d, want %s and %d", err, exit, row.code, row.exit)
				}
				if row.code == protocol.CodeTimeout && !strings.Contains(err.Error(), "last: wave 1 of 2: 2 of 2 done") {
					t.Errorf("%v does not say how it was last", err)
				}
			})
		})
	}
}

// seen collects what is written while it is looked at.
type seen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *seen) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *seen) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
