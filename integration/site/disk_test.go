package site

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestHubDiskFull: a hub whose disk is full says that it is not ready, refuses what it
// cannot keep by a plain word, goes on reading, and is as before once there is room again:
// the same process, with everything that it had accepted, and its agents connected.
func TestHubDiskFull(t *testing.T) {
	t.Parallel()
	statetest.SmallDisk(t, 32, func(t *testing.T, mount string) {
		s := newSite(t, 1)
		s.hub.DataDir = filepath.Join(mount, "hub")
		s.hub.Metrics = freePorts(t, 1)[0]
		s.run("hub", func(ctx context.Context, ready func()) error {
			return hubdaemon.Run(ctx, s.hub, hubdaemon.Options{Version: "test", Logger: s.log, MaxBackoff: linkPause, Ready: ready})
		})
		s.dial()
		s.untilReady()
		page := func(path string) int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.hub.Metrics+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = a.Body.Close()
			return a.StatusCode
		}
		if ready, lives := page("/readyz"), page("/healthz"); ready != 200 || lives != 200 {
			t.Errorf("metrics port: ready %d, lives %d", ready, lives)
		}
		s.apply(s.manifests()...)
		c := s.firstAgent()
		s.join(c)
		s.startAgent(c)
		s.untilServer("n1", "the first report", func(*resource.Server) bool { return true })

		ballast := filepath.Join(mount, "ballast")
		statetest.Fill(t, ballast, 64<<10)
		accepted := map[string]bool{}
		place := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the store has five
			defer cancel()
			h, err := s.client.Holds.Create(ctx, "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: fmt.Sprintf("k%d", len(accepted)), Mode: resource.StopHard, Reason: strings.Repeat("x", 512)}})
			if err == nil {
				accepted[h.Metadata.Name] = true
			}
			return err
		}
		var refused error
		for refused == nil && len(accepted) < 1000 {
			refused = place()
		}
		t.Logf("%d accepted, then: %v", len(accepted), refused)
		var last error
		s.until("the hub says that it is not ready", func() bool { last = s.client.Ready(t.Context()); return last != nil }, func() any { return last })
		if ready, lives := page("/readyz"), page("/healthz"); ready != 503 || lives != 200 {
			t.Errorf("metrics port: ready %d, lives %d", ready, lives)
		}
		s.until("a refusal at once", func() bool {
			began := time.Now()
			refused = place()
			return protocol.CodeOf(refused) == protocol.CodeUnavailable && time.Since(began) < 2*time.Second
		}, func() any { return refused })
		if text := refused.Error() + protocol.HintOf(refused); protocol.HintOf(refused) == "" || strings.Contains(text, "NATS") || strings.Contains(text, "context deadline") {
			t.Errorf("refused with %q, hint %q", refused, protocol.HintOf(refused))
		}
		if _, ok := get[*resource.Server](s, "n1"); !ok {
			t.Error("n1 cannot be read")
		}

		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		s.untilReady()
		s.until("a hold", func() bool { last = place(); return last == nil }, func() any { return last })
		for id := range accepted {
			s.untilHold(id, resource.HoldFenced)
		}
	})
}
