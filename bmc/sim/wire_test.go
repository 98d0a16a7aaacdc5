//go:debug x509negativeserial=1

package sim

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// userOf is a user of a BMC that was made already.
func userOf(t *testing.T, b *BMC) *user {
	t.Helper()
	return &user{t: t, bmc: b, password: "p", client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
		Timeout:   patience,
	}}
}

// On real sockets: a client that speaks HTTP/1.1 only is not answered.
func TestH2OnlyOnTheWire(t *testing.T) {
	p, _ := Preset("H2Only")
	u := newUser(t, p, hardware.SimulatedConfig{})
	if a := u.do("GET", tree.SystemURI, ""); a.status != 0 {
		t.Errorf("HTTP/1.1 is answered %d", a.status)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	u.client.Transport = transport
	u.want(u.do("GET", tree.SystemURI, ""), 200, "")
}

// On real sockets: a client that speaks no TLS of before 1.2 is not answered.
func TestOldTLSOnTheWire(t *testing.T) {
	p, _ := Preset("OldTLS")
	u := newUser(t, p, hardware.SimulatedConfig{})
	if a := u.do("GET", tree.SystemURI, ""); a.status != 0 {
		t.Errorf("a client of today is answered %d", a.status)
	}
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}}
	u.client.Transport = &http.Transport{TLSClientConfig: old, DisableKeepAlives: true}
	u.want(u.do("GET", tree.SystemURI, ""), 200, "")
}

// A connection that was idle is closed by its next request; a new one works.
func TestDropsIdleOnTheWire(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	// By hand: an http.Transport may always take a new connection.
	conn, err := tls.Dial("tcp", strings.TrimPrefix(u.bmc.Address(), "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	ask := func(method, uri, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, u.bmc.Address()+uri, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("u", u.password)
		if err := req.Write(conn); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		return resp, err
	}
	if resp, err := ask("GET", tree.SystemURI, ""); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	u.bmc.Adjust(func(p *Personality) { p.Wire.DropIdle = time.Nanosecond })
	if resp, err := ask("POST", tree.ResetURI, `{"ResetType":"On"}`); err == nil {
		t.Errorf("answered %s", resp.Status)
	}
	if s := u.bmc.PowerState(); s != protocol.PowerOff {
		t.Errorf("what was asked on the dropped connection was done: %s", s)
	}
	u.want(u.reset("On"), 204, "")
}

func TestStreamOnTheWire(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	u.client.Timeout = 0
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.bmc.Address()+tree.EventsURI+"/SSE", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("u", "p")
	resp, err := u.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	u.bmc.SendEvent("Sim.1.0.Alert", tree.SystemURI)
	lines := bufio.NewReader(resp.Body)
	id, _ := lines.ReadString('\n')
	data, _ := lines.ReadString('\n')
	if id != "id: 1\n" || !strings.Contains(data, `"MessageId":"Sim.1.0.Alert"`) {
		t.Errorf("%q %q", id, data)
	}
	u.bmc.Restart()
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

func TestWebhookOnTheWire(t *testing.T) {
	got := make(chan string, 8)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	t.Cleanup(hook.Close)
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	a := u.do("POST", tree.EventsURI+"/Subscriptions", `{"Destination":"`+hook.URL+`","Protocol":"Redfish"}`)
	u.want(a, 201, "")
	u.bmc.SendEvent("Sim.1.0.Alert", tree.SystemURI)
	if body := <-got; !strings.Contains(body, "Sim.1.0.Alert") {
		t.Errorf("delivered %s", body)
	}
	u.want(u.do("DELETE", a.header.Get("Location"), ""), 204, "")
	u.want(u.do("GET", a.header.Get("Location"), ""), 404, "Base.1.13.ResourceMissingAtURI")
}

// bmcweb: 10 streams, 20 subscriptions (include/subscription.hpp).
func TestLimitsOfSubscribers(t *testing.T) {
	u := newUser(t, Plain(), hardware.SimulatedConfig{})
	for range maxSubscriptions {
		u.want(u.do("POST", tree.EventsURI+"/Subscriptions", `{"Destination":"https://192.0.2.1/"}`), 201, "")
	}
	u.want(u.do("POST", tree.EventsURI+"/Subscriptions", `{"Destination":"https://192.0.2.1/"}`), 503, "Base.1.13.EventSubscriptionLimitExceeded")
	u.bmc.Adjust(func(p *Personality) { p.Event.MaxStreams = 1 })
	u.bmc.events.mu.Lock()
	u.bmc.events.streams[make(chan []byte)] = struct{}{}
	u.bmc.events.mu.Unlock()
	u.want(u.do("GET", tree.EventsURI+"/SSE", ""), 503, "Base.1.13.EventSubscriptionLimitExceeded")
}
