package rack

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// webhookBench is a server whose BMC has subscriptions and no event stream.
func webhookBench(t *testing.T, preset string) *bench {
	t.Helper()
	p, ok := bmcsim.Preset(preset)
	if !ok {
		t.Fatal("no preset", preset)
	}
	p.Event.Interval = time.Millisecond
	b := newBench(t, 1, p)
	b.metrics = prometheus.NewRegistry()
	b.calls.whole.Store(true)
	return b
}

type destination struct{ Destination, Context string }

// destinations are those that the BMC of server 0 sends events to.
func (b *bench) destinations() (all []destination) {
	b.t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	get := func(path string, into any) bool {
		req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.servers[0].BMC.Address()+path, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		req.SetBasicAuth("admin", "secret")
		resp, err := client.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			b.t.Fatal(err)
		}
		return resp.StatusCode == http.StatusOK
	}
	type link struct {
		ID string `json:"@odata.id"`
	}
	var service struct{ Subscriptions link }
	get("/redfish/v1/EventService", &service)
	var list struct{ Members []link }
	get(service.Subscriptions.ID, &list)
	for _, m := range list.Members {
		var d destination
		if get(m.ID, &d) {
			all = append(all, d)
		}
	}
	return all
}

// subscribed waits for the agent's only subscription.
func (b *bench) subscribed() destination {
	b.t.Helper()
	var all []destination
	b.eventually("the subscription", func() bool {
		all = b.destinations()
		return len(all) == 1 && counter(b.t, b.metrics, "rackboot_agent_bmc_subscriptions") == 1
	})
	return all[0]
}

// post sends a body to the agent's HTTP server as a BMC would.
func post(t *testing.T, url, method string, body []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	own := new(http.Transport) // a test beside this one may close what the default one has open
	defer own.CloseIdleConnections()
	resp, err := own.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestWebhookWakes: with a poll minutes away, a power-on that nobody ordered is
// reported as soon as the BMC sends an event of it; and the subscription ends with the
// agent.
func TestWebhookWakes(t *testing.T) {
	t.Parallel()
	b := webhookBench(t, "NoStream")
	b.poll = 10 * time.Minute
	a, stop := b.start(nil)
	b.send(a)
	b.until("the first read", 0, read)
	d := b.subscribed()
	b.servers[0].BMC.ExternalOn()
	b.until("the power-on", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOn })

	event, large := []byte(`{"Events":[{}]}`), bytes.Repeat([]byte("x"), 64<<10+1)
	for _, tt := range []struct {
		what, url, method string
		body              []byte
		want              int
	}{
		{"an event", d.Destination, http.MethodPost, event, http.StatusNoContent},
		{"no event", d.Destination, http.MethodPost, []byte(`]`), http.StatusNoContent},
		{"too large", d.Destination, http.MethodPost, large, http.StatusRequestEntityTooLarge},
		{"a read", d.Destination, http.MethodGet, nil, http.StatusMethodNotAllowed},
		{"another token", d.Destination[:len(d.Destination)-1] + "x", http.MethodPost, event, http.StatusNotFound},
		{"no token", "http://" + b.http.String() + "/e/", http.MethodPost, event, http.StatusNotFound},
	} {
		if got := post(t, tt.url, tt.method, tt.body); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.want)
		}
	}
	stop()
	if left := b.destinations(); len(left) != 0 {
		t.Errorf("%d subscriptions after a clean end", len(left))
	}
}

// TestWebhookComesBack: a BMC that restarts forgets its subscriptions, and one that
// deletes them after failures has none when its network is back; both are subscribed
// to again when they answer again.
func TestWebhookComesBack(t *testing.T) {
	t.Parallel()
	b := webhookBench(t, "ILODropsSubscriber")
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first read", 0, read)
	first := b.subscribed()
	for range 2 {
		b.until("a read", 0, read)
		if err := b.servers[0].BMC.SetReach(bmcsim.ReachRefused); err != nil {
			t.Fatal(err)
		}
		b.until("a read that fails", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerUnreachable })
		b.servers[0].BMC.Restart()
		if err := b.servers[0].BMC.SetReach(bmcsim.ReachOK); err != nil {
			t.Fatal(err)
		}
		if again := b.subscribed(); again != first {
			t.Errorf("another subscription: %+v", again)
		}
	}
}
