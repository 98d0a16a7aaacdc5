package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Events come in order, each as a signed CloudEvent, and only those that the hook asks for.
func TestOrder(t *testing.T) {
	b := newBench(t)
	b.happen(3, resource.EventArmed, "n1") // before there was a hook
	rc, some := newReceiver(t, nil), newReceiver(t, nil)
	narrow := some.hook(t, "some")
	narrow.Codes = []resource.EventCode{resource.EventHoldViolated}
	r := b.run(nil, rc.hook(t, "all"), narrow)
	until(t, "both are open", func() bool {
		return !slices.ContainsFunc(r.List(), func(h api.Webhook) bool { return h.Position != 3 })
	})
	b.happen(250, resource.EventArmed, "n1")
	b.happen(1, resource.EventHoldViolated, "n1")
	b.untilTaken(rc, numbers(4, 254))
	b.untilTaken(some, []string{"254"})
	last := some.requests()[0]
	if last.Type != "io.rackboot.event.HoldViolated" || last.Subject != "Server/n1" || last.Source != "urn:rackboot:hub:h1" || last.SpecVersion != "1.0" ||
		last.Time.IsZero() || last.Data.Index != 254 || last.header.Get("Content-Type") != "application/cloudevents+json" {
		t.Errorf("%+v", last)
	}
	if n := len(strings.Fields(last.header.Get("webhook-signature"))); n != 2 {
		t.Errorf("%d signatures of two secrets", n)
	}
	until(t, "both are done", func() bool {
		return !slices.ContainsFunc(r.List(), func(h api.Webhook) bool { return h.Position != h.Newest || h.Waiting != nil })
	})
	if all := r.List()[0]; all.Delivered != 251 || all.Failures != 0 || all.Host != strings.TrimSuffix(rc.url, "/in?token=canary-url") {
		t.Errorf("%+v", all)
	}
}

// What fails is sent again until it is taken, with its id, and nothing goes before it.
func TestRetry(t *testing.T) {
	b := newBench(t)
	bad := []int{http.StatusServiceUnavailable, 0, http.StatusTooManyRequests, http.StatusNotFound, http.StatusFound, 0}
	rc := newReceiver(t, func(n int, _ got) int {
		if n%2 == 1 && n/2 < len(bad) {
			return bad[n/2]
		}
		return http.StatusOK
	})
	r := b.run(nil, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	b.happen(20, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 20))
	failed := 0
	ids := map[string]string{}
	for _, g := range rc.requests() {
		if id, again := ids[g.Data.Message]; again && id != g.ID {
			t.Errorf("event %s came as %s and as %s", g.Data.Message, id, g.ID)
		}
		ids[g.Data.Message] = g.ID
		if g.status/100 != 2 {
			failed++
		}
	}
	if l := r.List()[0]; failed != len(bad) || l.Failures != uint64(failed) || l.Dead != 0 || l.Failure == nil {
		t.Errorf("%d attempts failed: %+v", failed, l)
	}
}

// stored reports whether a place is in the store.
func (b *bench) stored(name string) bool {
	_, _, err := b.store.Meta.Get(fmt.Sprintf(placeName, name))
	return err == nil
}

// A hub that dies has lost nothing: what its store does not know to be taken comes again, with its id; and what
// happened while it was down comes too.
func TestKilled(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, nil)
	var dead atomic.Bool // then nothing of its place reaches the disk
	b.mem.BeforeWrite = func(key string) error {
		if dead.Load() && strings.HasPrefix(key, "meta.webhook-") {
			return errors.New("the hub is dead")
		}
		return nil
	}
	r := b.run(nil, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	b.happen(10, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 10))
	dead.Store(true)
	b.happen(10, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 20))
	r.end()
	dead.Store(false)
	b.happen(5, resource.EventArmed, "n1")
	b.reopen()
	before := len(rc.requests())
	again := b.run(nil, rc.hook(t, "h"))
	b.untilTaken(rc, numbers(1, 25))                                              // which compares the ids of doubles
	if doubles := len(rc.requests()) - before - 5; doubles < 10 || doubles > 20 { // those of which the store knows nothing, and those that it was just to be told
		t.Errorf("%d doubles", doubles)
	}
	until(t, "its place is kept", func() bool { return again.List()[0].Position == 25 })
	again.end()
	b.reopen()
	before = len(rc.requests())
	b.run(nil, rc.hook(t, "h"))
	b.happen(1, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 26))
	if n := len(rc.requests()) - before; n != 1 {
		t.Errorf("after an orderly end %d came, and one happened", n)
	}
}

// What a receiver refuses is a dead letter at once, survives a restart, and is sent again by somebody's word.
func TestDeadLetters(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusGone} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			b := newBench(t)
			var mended atomic.Bool
			rc := newReceiver(t, func(_ int, g got) int {
				if !mended.Load() && (g.Data.Message == "2" || g.Data.Message == "4") {
					return status
				}
				return http.StatusOK
			})
			r := b.run(nil, rc.hook(t, "h"))
			until(t, "it is open", func() bool { return b.stored("h") })
			b.happen(5, resource.EventHoldViolated, "n1")
			b.untilTaken(rc, []string{"1", "3", "5"})
			if n := len(rc.requests()); n != 5 {
				t.Errorf("%d attempts", n)
			}
			r.end()
			b.reopen()
			r = b.run(nil, rc.hook(t, "h"))
			until(t, "letters are read", func() bool { return r.List()[0].Dead == 2 })
			dead, err := r.Dead("h")
			if err != nil || dead.Items[0].Type != "io.rackboot.event.HoldViolated" || dead.Items[0].Subject != "Server/n1" || dead.Items[0].Failure.Status != status || dead.Items[0].Attempts != 1 {
				t.Fatalf("%+v, %v", dead, err)
			}
			// Still refused: it stays.
			if n, err := r.Retry(t.Context(), "h", []string{dead.Items[0].ID}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			until(t, "it was tried", func() bool { d, _ := r.Dead("h"); return d.Items[0].Attempts == 2 && !d.Items[0].Again })
			mended.Store(true)
			if n, err := r.Retry(t.Context(), "h", nil); n != 2 || err != nil {
				t.Fatal(n, err)
			}
			until(t, "no letter is left", func() bool { return r.List()[0].Dead == 0 })
			b.untilTaken(rc, []string{"1", "3", "5", "2", "4"})
			if _, err := r.Retry(t.Context(), "h", []string{"none"}); protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("a letter that is none: %v", err)
			}
			if _, err := r.Retry(t.Context(), "other", nil); protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("a hook that is none: %v", err)
			}
		})
	}
}

// After the time that is set an event is given up, and the next one is tried.
func TestGivenUp(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, func(_ int, g got) int {
		if g.Data.Message == "1" {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	h := rc.hook(t, "h")
	h.GiveUp = 50 * time.Millisecond
	r := b.run(nil, h)
	until(t, "it is open", func() bool { return b.stored("h") })
	b.happen(2, resource.EventArmed, "n1")
	b.untilTaken(rc, []string{"2"})
	dead, err := r.Dead("h")
	if err != nil || len(dead.Items) != 1 || dead.Items[0].Attempts < 2 || dead.Items[0].Failure.Code != api.WebhookFailing {
		t.Errorf("%+v, %v", dead, err)
	}
}

// A receiver that answers nothing holds up neither another one nor who files events, and is left in time.
func TestHangs(t *testing.T) {
	b := newBench(t)
	let := make(chan struct{})
	hung := newReceiver(t, func(int, got) int { <-let; return http.StatusOK })
	rc := newReceiver(t, nil)
	h := hung.hook(t, "hung")
	h.Wait = 20 * time.Millisecond
	r := b.run(nil, h, rc.hook(t, "h"))
	until(t, "both are open", func() bool { return b.stored("h") && b.stored("hung") })
	b.happen(100, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 100))
	until(t, "it was given some attempts", func() bool { return r.List()[0].Failures > 2 })
	l := r.List()[0]
	if l.Failure.Code != api.WebhookTimeout || l.Position != 0 || l.Waiting == nil || l.Waiting.Attempts < 2 {
		t.Errorf("%+v", l)
	}
	began := time.Now()
	r.end()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the end waited %s for it", took)
	}
	close(let)
}

// Events that the log has no more are told, with which, and what is there comes after.
func TestGap(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, nil)
	r := b.run(nil, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	b.happen(3, resource.EventArmed, "n1")
	b.untilTaken(rc, numbers(1, 3))
	until(t, "it has heard that", func() bool { return r.List()[0].Position == 3 })
	r.end()
	b.happen(10, resource.EventArmed, "n1")
	if err := b.log.Keep(t.Context(), time.Now().Add(time.Hour), 1<<30); err != nil {
		t.Fatal(err)
	}
	b.happen(2, resource.EventArmed, "n1")
	b.reopen()
	b.run(nil, rc.hook(t, "h"))
	b.untilTaken(rc, append(numbers(1, 3), "13", "14", "15")) // the newest is never cut off
	var gaps []got
	for _, g := range rc.requests() {
		if g.Type == typeGap {
			gaps = append(gaps, g)
		}
	}
	if len(gaps) != 1 || gaps[0].Data.After != 3 || gaps[0].Data.UpTo != 12 {
		t.Errorf("%+v", gaps)
	}
}

// Which events a hook asks for by rack is by where their server or agent is.
func TestRacks(t *testing.T) {
	b := newBench(t)
	if _, err := b.store.Sets.Apply(t.Context(), storetest.Site(), store.ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	rc, none := newReceiver(t, nil), newReceiver(t, nil)
	h, other := rc.hook(t, "h"), none.hook(t, "other")
	h.Racks, other.Racks = []string{"r1"}, []string{"r9"}
	r := b.run(nil, h, other)
	until(t, "both are open", func() bool { return b.stored("h") && b.stored("other") })
	b.happen(1, resource.EventArmed, "n1")
	b.happen(1, resource.EventArmed, "nobody")
	b.happen(1, resource.EventArmed, "n2")
	b.untilTaken(rc, []string{"1", "3"})
	until(t, "the other is done", func() bool { return r.List()[1].Position == 3 })
	if n := len(none.requests()); n != 0 {
		t.Errorf("%d of another rack", n)
	}
}

// A hub that another one has taken over sends nothing.
func TestStopped(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, nil)
	var stopped atomic.Bool
	var asked atomic.Int64
	b.run(func(c *Config) { c.Stopped = func() bool { asked.Add(1); return stopped.Load() } }, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	stopped.Store(true)
	turns := func() {
		was := asked.Load()
		until(t, "some turns", func() bool { return asked.Load() > was+5 })
	}
	turns() // one may have begun before
	b.happen(3, resource.EventArmed, "n1")
	turns()
	if n := len(rc.requests()); n != 0 {
		t.Errorf("%d were sent", n)
	}
	stopped.Store(false)
	b.untilTaken(rc, numbers(1, 3))
}

// Neither what is logged nor what is shown has the secret, or what of the URL may be one.
func TestNothingSecretIsShown(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, func(n int, _ got) int { return []int{0, http.StatusGone}[n%2] })
	h := rc.hook(t, "h")
	away := h
	away.Name, away.URL = "away", "http://127.0.0.1:1/canary-url"
	r := b.run(nil, h, away)
	until(t, "both are open", func() bool { return b.stored("h") && b.stored("away") })
	b.happen(4, resource.EventArmed, "n1")
	until(t, "letters", func() bool { l := r.List(); return l[0].Dead == 4 && l[1].Failures > 1 })
	if code := r.List()[1].Failure.Code; code != api.WebhookUnreachable {
		t.Errorf("nobody there: %s", code)
	}
	dead, err := r.Dead("h")
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	shown := b.notes.String() + fmt.Sprintf("%+v %#v %v %+v %+v", h.Secrets, h.Secrets, h, r.List(), dead)
	for _, secret := range []string{strings.TrimPrefix(oldSecret, secretPrefix), strings.TrimPrefix(newSecret, secretPrefix)} {
		if strings.Contains(shown, secret) {
			t.Errorf("a secret is shown: %s", shown)
		}
	}
	if strings.Contains(b.notes.String()+fmt.Sprintf("%+v", r.List()), "canary-url") || !strings.Contains(b.notes.String(), "gave an event up") {
		t.Errorf("logged: %s", b.notes)
	}
}

// A redirect is not followed, and a certificate that nobody vouches for is no receiver.
func TestWhereItGoes(t *testing.T) {
	b := newBench(t)
	elsewhere := newReceiver(t, nil)
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.url, http.StatusTemporaryRedirect))
	defer moved.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	defer secure.Close()
	h := elsewhere.hook(t, "moved")
	h.URL = moved.URL
	tls := h
	tls.Name, tls.URL = "tls", secure.URL
	r := b.run(nil, h, tls)
	for name, want := range map[string]api.WebhookCode{"moved": api.WebhookRedirected, "tls": api.WebhookTLS} {
		if got, err := r.Test(t.Context(), name); err != nil || got.Taken || got.Code != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if n := len(elsewhere.requests()); n != 0 {
		t.Errorf("%d were sent elsewhere", n)
	}
	h.URL = elsewhere.url
	r = b.run(nil, h)
	if got, err := r.Test(t.Context(), "moved"); err != nil || !got.Taken || got.Status != http.StatusNoContent {
		t.Errorf("%+v, %v", got, err)
	}
	if g := elsewhere.requests()[0]; g.Type != typeTest || g.ID != "test-n1" {
		t.Errorf("%+v", g)
	}
	if _, err := r.Test(t.Context(), "none"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a hook that is none: %v", err)
	}
}

// A store that takes no letters loses no event: it is sent again until it has its place.
func TestLettersAreNotKept(t *testing.T) {
	b := newBench(t)
	var full atomic.Bool
	b.mem.BeforeWrite = func(key string) error {
		if full.Load() && strings.HasSuffix(key, "-dead") {
			return errors.New("no room")
		}
		return nil
	}
	rc := newReceiver(t, func(int, got) int { return http.StatusBadRequest })
	r := b.run(nil, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	full.Store(true)
	b.happen(2, resource.EventArmed, "n1")
	until(t, "some attempts", func() bool { return len(rc.requests()) > 2 })
	if l := r.List()[0]; l.Position != 0 || l.Dead != 0 {
		t.Errorf("%+v", l)
	}
	full.Store(false)
	until(t, "both are dead", func() bool { return r.List()[0].Dead == 2 })
}

// The metrics say what List says.
func TestMetrics(t *testing.T) {
	b := newBench(t)
	rc := newReceiver(t, func(_ int, g got) int { return map[string]int{"1": 200, "2": 400}[g.Data.Message] })
	reg := prometheus.NewRegistry()
	r := b.run(func(c *Config) { c.Registerer = reg }, rc.hook(t, "h"))
	until(t, "it is open", func() bool { return b.stored("h") })
	b.happen(3, resource.EventArmed, "n1")
	until(t, "the third fails", func() bool { w := r.List()[0].Waiting; return w != nil && w.Attempts > 0 && r.List()[0].Dead == 1 })
	r.end()
	want := fmt.Sprintf(`
# HELP rackboot_hub_webhook_dead_letters Events that were given up and are kept.
# TYPE rackboot_hub_webhook_dead_letters gauge
rackboot_hub_webhook_dead_letters{webhook="h"} 1
# HELP rackboot_hub_webhook_delivered_total Events that the receiver took, dead letters sent again included.
# TYPE rackboot_hub_webhook_delivered_total counter
rackboot_hub_webhook_delivered_total{webhook="h"} 1
# HELP rackboot_hub_webhook_lag_records Records of the log from the last event that was done with to the newest.
# TYPE rackboot_hub_webhook_lag_records gauge
rackboot_hub_webhook_lag_records{webhook="h"} 1
# HELP rackboot_hub_webhook_oldest_undelivered_timestamp_seconds When the event was filed that is tried now; 0 for none.
# TYPE rackboot_hub_webhook_oldest_undelivered_timestamp_seconds gauge
rackboot_hub_webhook_oldest_undelivered_timestamp_seconds{webhook="h"} %d
`, r.List()[0].Waiting.Filed.Unix())
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "rackboot_hub_webhook_dead_letters", "rackboot_hub_webhook_delivered_total",
		"rackboot_hub_webhook_lag_records", "rackboot_hub_webhook_oldest_undelivered_timestamp_seconds"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// An Index that is given again, after a store was put back, is another event with another id.
func TestIDs(t *testing.T) {
	first, second := newBench(t), newBench(t)
	first.happen(1, resource.EventArmed, "n1")
	second.happen(1, resource.EventHoldViolated, "n1")
	id := func(b *bench) string {
		got, err := b.log.Read(context.Background(), 0, 10)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		return got[0].ID
	}
	once, other := id(first), id(second)
	if again := id(first); once == other || once != again || !strings.HasPrefix(once, "1-") {
		t.Errorf("%s and again %s, and %s", once, again, other)
	}
	var _ Events = (*events.Log)(nil)
}
