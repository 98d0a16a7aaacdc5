package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func limited(t *testing.T, l gate.Limits) (*api.API, *prometheus.Registry) {
	t.Helper()
	mem, reg := storetest.NewMemory(), prometheus.NewRegistry()
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{
		Store: s, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Callers: gate.Callers{Clients: apitest.Clients()}, Clock: time.Now, NewID: newID, Registerer: reg, Limits: l,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, reg
}

// from asks as ask does, from an address.
func from(t *testing.T, a http.Handler, addr, method, path, token string, headers ...string) (status int, again string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
	r.RemoteAddr = addr
	r.Header.Set("Authorization", token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Code, w.Header().Get("Retry-After")
}

// The attacker guesses tokens, and says by every header that it is somebody else.
func TestGuessedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, reg := limited(t, gate.Limits{SourcePerSecond: 1, SourceBurst: 3})
		guess := func(addr string, n int) (int, string) {
			return from(t, a, addr, http.MethodGet, protoapi.PathWhoami, "Bearer "+apitest.Token+strconv.Itoa(n),
				"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", n), "Forwarded", fmt.Sprintf("for=203.0.113.%d", n), "X-Real-IP", fmt.Sprintf("203.0.113.%d", n))
		}
		for n := range 3 {
			if got, _ := guess("192.0.2.1:1000", n); got != http.StatusUnauthorized {
				t.Fatalf("guess %d: %d", n, got)
			}
		}
		for n := 3; n < 9; n++ {
			if got, again := guess(fmt.Sprintf("192.0.2.1:%d", 1000+n), n); got != http.StatusTooManyRequests || again != "1" {
				t.Fatalf("guess %d: %d, again in %q", n, got, again)
			}
		}
		if got, _ := from(t, a, "192.0.2.1:1", http.MethodPost, protoapi.PathJoin, ""); got == http.StatusTooManyRequests {
			t.Error("an agent behind the same address cannot join")
		}
		// Nobody else is kept out: neither another address, nor a caller behind this one.
		if got, _ := guess("192.0.2.2:1", 0); got != http.StatusUnauthorized {
			t.Errorf("another address: %d", got)
		}
		if got, _ := from(t, a, "192.0.2.1:1", http.MethodGet, protoapi.PathWhoami, bearer); got != http.StatusOK {
			t.Errorf("a caller at the same address: %d", got)
		}
		time.Sleep(time.Second)
		if got, _ := guess("192.0.2.1:1", 0); got != http.StatusUnauthorized {
			t.Errorf("a second later: %d", got)
		}
		// All addresses of a link are one; so is IPv4 in IPv6.
		for n, want := range []int{401, 401, 401, 429} {
			if got, _ := guess(fmt.Sprintf("[2001:db8::%d]:1", n), n); got != want {
				t.Errorf("%d of a link: %d", n, got)
			}
		}
		if got, _ := guess("[::ffff:192.0.2.1]:1", 0); got != http.StatusTooManyRequests {
			t.Errorf("IPv4 as IPv6: %d", got)
		}
		if n := metric(t, reg, "rackboot_hub_api_limited_total", "source"); n != 8 {
			t.Errorf("%v are counted", n)
		}
	})
}

// Agents that join are counted apart: a room of a thousand behind one address joins at once, and no more.
func TestJoinRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := limited(t, gate.Limits{})
		join := func(addr string) (throttled bool) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, protoapi.PathJoin, strings.NewReader("{"))
			r.RemoteAddr = addr
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			return w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "" // else by the body, which is wrong
		}
		for n := range 1000 {
			if join("192.0.2.1:1") {
				t.Fatalf("join %d was refused", n)
			}
		}
		if !join("192.0.2.1:1") {
			t.Error("there is no bound")
		}
		if join("192.0.2.2:1") {
			t.Error("another address was refused")
		}
		if status, _ := from(t, a, "192.0.2.1:1", http.MethodGet, protoapi.PathWhoami, "Bearer none"); status != http.StatusUnauthorized {
			t.Errorf("a wrong token beside the joins: %d", status)
		}
		time.Sleep(time.Second)
		n := 0
		for ; !join("192.0.2.1:1"); n++ {
		}
		if n != 50 {
			t.Errorf("%d a second later", n)
		}
	})
}

// Many addresses together have a rate too.
func TestAllSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := limited(t, gate.Limits{AllPerSecond: 1, AllBurst: 50})
		refused := 0
		for n := range 60 {
			if got, _ := from(t, a, fmt.Sprintf("192.0.2.%d:1", n), http.MethodGet, "/", ""); got == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused != 10 {
			t.Errorf("%d refused", refused)
		}
	})
}

// A caller that asks too often is told when to come again; others are not.
func TestCallerRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, reg := limited(t, gate.Limits{CallerPerSecond: .5, CallerBurst: 2})
		for n, want := range []int{200, 200, 429} {
			if got, again := from(t, a, fmt.Sprintf("192.0.2.%d:1", n), http.MethodGet, protoapi.PathWhoami, tokenOf("viewer")); got != want || (want == 429) != (again == "2") {
				t.Errorf("%d: %d, again in %q", n, got, again)
			}
		}
		if got, _ := from(t, a, "192.0.2.1:1", http.MethodGet, protoapi.PathWhoami, bearer); got != http.StatusOK {
			t.Errorf("another caller: %d", got)
		}
		time.Sleep(2 * time.Second)
		if got, _ := from(t, a, "192.0.2.1:1", http.MethodGet, protoapi.PathWhoami, tokenOf("viewer")); got != http.StatusOK {
			t.Errorf("later: %d", got)
		}
		if n := metric(t, reg, "rackboot_hub_api_limited_total", "caller"); n != 1 {
			t.Errorf("%v are counted", n)
		}
	})
}

// A probe of health is always answered: who runs the hub asks often, without a token.
func TestHealthHasNoRate(t *testing.T) {
	a, _ := limited(t, gate.Limits{SourcePerSecond: 1, SourceBurst: 1, AllPerSecond: 1, AllBurst: 1})
	for range 10 {
		if got, _ := from(t, a, "192.0.2.1:1", http.MethodGet, protoapi.PathHealth, ""); got != http.StatusOK {
			t.Fatal(got)
		}
	}
}

// rackctl waits as it is told, also with what is not safe to repeat: nothing was done.
func TestClientWaits(t *testing.T) {
	h := apitest.NewWith(t, func(c *api.Config) { c.Limits = gate.Limits{CallerPerSecond: 20, CallerBurst: 1} })
	c := h.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Holds.Create(t.Context(), "n1", protoapi.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k"}}); err != nil {
		t.Errorf("%v (%s)", err, protocol.HintOf(err))
	}
}

func metric(t *testing.T, reg *prometheus.Registry, name, label string) float64 {
	t.Helper()
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

// What comes to another listener of the hub counts with what comes to the API: by caller, and by
// address for whoever is not known.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, reg := limited(t, gate.Limits{CallerPerSecond: 1, CallerBurst: 2, SourcePerSecond: 1, SourceBurst: 1})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/v2/os/manifests/1", nil)
		for _, step := range []struct {
			who  string
			want bool
		}{{"admin", false}, {"admin", false}, {"admin", true}, {"", false}, {"", true}} {
			if got := a.Gate().Throttled(r, step.who); got != step.want {
				t.Errorf("%q: %t", step.who, got)
			}
		}
		if status, _ := from(t, a, "192.0.2.9:1", http.MethodGet, protoapi.PathWhoami, "Bearer "+apitest.Token); status != http.StatusTooManyRequests {
			t.Errorf("the API answers the same caller %d", status)
		}
		time.Sleep(time.Second)
		if a.Gate().Throttled(r, "admin") || a.Gate().Throttled(r, "") {
			t.Error("it stays")
		}
		if n, err := testutil.GatherAndCount(reg, "rackboot_hub_api_limited_total"); err != nil || n == 0 {
			t.Errorf("%d series of what was limited, %v", n, err)
		}
	})
}
