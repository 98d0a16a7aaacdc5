package api_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const onceKey = protoapi.HeaderIdempotencyKey + ": "

// A reboot is not safe to repeat: with a key it is.
func TestOnce(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	const path, body = "/v1/servers/n1/requests", `{"anyPhase":true,"action":"power-off"}`
	first := ask(t, a, "admin", http.MethodPost, path, body, onceKey+"k1")
	if first.status != http.StatusOK || first.header.Get(protoapi.HeaderReplayed) != "" {
		t.Fatalf("%d %s", first.status, first.text)
	}
	entries := len(h.Records.Entries())
	again := ask(t, a, "admin", http.MethodPost, path, body, onceKey+"k1")
	if again.status != first.status || again.text != first.text || again.header.Get(protoapi.HeaderReplayed) != "true" ||
		again.header.Get("Content-Type") != first.header.Get("Content-Type") {
		t.Errorf("%d %s", again.status, again.text)
	}
	if n := len(h.Store.Requests.List()); n != 1 || len(h.Records.Entries()) != entries {
		t.Errorf("%d requests, %d entries more", n, len(h.Records.Entries())-entries)
	}
	for _, row := range []struct {
		name, who, path, body, key string
		status, requests           int
	}{
		{"another body", "admin", path, `{"action":"power-off"}`, "k1", 409, 1},
		{"another path", "admin", "/v1/servers/n2/requests", body, "k1", 409, 1},
		{"replayed by another caller it is that caller's own", "fencer", path, body, "k1", 200, 2},
		{"by one who has no right to it", "viewer", path, body, "k1", 403, 2},
		{"another key", "admin", path, body, "k2", 200, 3},
		{"no key", "admin", path, body, "", 200, 4},
		{"a long key", "admin", path, body, strings.Repeat("k", 129), 400, 4},
		{"a key that is no text", "admin", path, body, "k\x01", 400, 4},
	} {
		var headers []string
		if row.key != "" {
			headers = append(headers, onceKey+row.key)
		}
		got := ask(t, a, row.who, http.MethodPost, row.path, row.body, headers...)
		if got.status != row.status || len(h.Store.Requests.List()) != row.requests || got.status >= 400 && got.problem.Hint == "" {
			t.Errorf("%s: %d %s, %d requests", row.name, got.status, got.text, len(h.Store.Requests.List()))
		}
		if strings.Contains(got.text, "admin") && row.who != "admin" {
			t.Errorf("%s: the answer of another caller: %s", row.name, got.text)
		}
	}
}

// Refusals are answered alike too, and keep nothing from being asked with another key.
func TestOnceKeepsRefusals(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	const path = "/v1/servers/n1/requests"
	first := ask(t, a, "admin", http.MethodPost, path, `{}`, onceKey+"k")
	rows(t, h.Store)
	again := ask(t, a, "admin", http.MethodPost, path, `{}`, onceKey+"k")
	if first.status != http.StatusNotFound || again.text != first.text || again.header.Get(protoapi.HeaderReplayed) == "" {
		t.Errorf("%s\n%s", first.text, again.text)
	}
}

// What was begun and never answered, as by a crash, is not begun again.
func TestOnceUnknown(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	h.Fleet.Broken = true // it panics after the hold is stored
	const path = "/v1/servers/n1/holds"
	if got := ask(t, a, "admin", http.MethodPost, path, `{"key":"x"}`, onceKey+"k"); got.status != http.StatusInternalServerError {
		t.Fatalf("%d %s", got.status, got.text)
	}
	h.Fleet.Broken = false
	got := ask(t, a, "admin", http.MethodPost, path, `{"key":"x"}`, onceKey+"k")
	if got.status != http.StatusConflict || !strings.Contains(got.problem.Detail, "not answered yet or never will be") {
		t.Errorf("%d %s", got.status, got.text)
	}
	list := h.Records.Entries()
	if e := list[len(list)-1]; e.Outcome != protocol.AuditFailed || e.Target != "Server/n1" {
		t.Errorf("%+v", e)
	}
}

// What the audit log has kept from being begun may be asked again with its key.
func TestOnceAfterNothingWasDone(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	h.Records.Fail(errors.New("disk full"))
	const path = "/v1/servers/n1/holds"
	got := ask(t, a, "admin", http.MethodPost, path, `{"key":"x"}`, onceKey+"k")
	if got.status != http.StatusServiceUnavailable || strings.Contains(got.text, "disk full") || len(h.Store.Holds.On("n1")) != 1 {
		t.Fatalf("%d %s", got.status, got.text)
	}
	h.Records.Fail(nil)
	if got := ask(t, a, "admin", http.MethodPost, path, `{"key":"x"}`, onceKey+"k"); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// A secret answer is not kept; the second time it is not given.
func TestOnceKeepsNoSecret(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	if got := ask(t, a, "admin", http.MethodPost, "/v1/racks/r1/join-token", "", onceKey+"k"); !strings.Contains(got.text, "one-time-r1") {
		t.Fatalf("%d %s", got.status, got.text)
	}
	if got := ask(t, a, "admin", http.MethodPost, "/v1/racks/r1/join-token", "", onceKey+"k"); got.status != http.StatusConflict || strings.Contains(got.text, "one-time") {
		t.Errorf("%d %s", got.status, got.text)
	}
	all, _, err := h.KV.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if strings.Contains(string(e.Value), "one-time-r1") {
			t.Errorf("%s has the token", e.Key)
		}
	}
}

// Of many at once, one is acted on.
func TestOnceAtOnce(t *testing.T) {
	a, h := handler(t, func(*api.Config) {})
	rows(t, h.Store)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			got := ask(t, a, "admin", http.MethodPost, "/v1/servers/n1/requests", `{"anyPhase":true,"action":"power-off"}`, onceKey+"k")
			if got.status != http.StatusOK && got.status != http.StatusConflict {
				t.Errorf("%d %s", got.status, got.text)
			}
		})
	}
	all.Wait()
	if n := len(h.Store.Requests.List()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// The client of the hub sends key and revision where its caller says so.
func TestClientKeysAndRevisions(t *testing.T) {
	h := apitest.New(t)
	rows(t, h.Store)
	c := h.Client(t)
	ctx := protoapi.WithIdempotencyKey(t.Context(), "k")
	for range 2 {
		if _, err := c.Requests.Reboot(ctx, "n1", protoapi.RebootRequest{Action: resource.RequestPowerOff}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(h.Store.Requests.List()); n != 1 {
		t.Errorf("%d requests", n)
	}
	b, err := store.Get[*resource.BMC](h.Store.Objects, "b3")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Objects.Delete(protoapi.WithRevision(t.Context(), b.Metadata.Revision+1), resource.KindBMC, "b3")
	wantCode(t, err, protocol.CodeConflict)
	if _, err := c.Objects.Delete(protoapi.WithRevision(t.Context(), b.Metadata.Revision), resource.KindBMC, "b3"); err != nil {
		t.Error(err)
	}
}
