package rack

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// sessions are how many sessions are open at the BMC of server i.
func (b *bench) sessions(i int) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.servers[i].BMC.Address()+"/redfish/v1/SessionService/Sessions", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "secret")
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Members []any
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		b.t.Fatal(err)
	}
	return len(list.Members)
}

// read says whether the server's power was read.
func read(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff }

// TestSessionIsReused: an agent that was killed goes on with the session that it had,
// and one that stops ends it: BMCs hold 16 in all (Supermicro).
func TestSessionIsReused(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, stop := b.start(nil)
	b.send(a)
	b.until("the first read", 0, read)
	if n := b.sessions(0); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	for range 3 {
		b.calls.dead.Store(true)
		stop()
		b.calls.dead.Store(false)
		seen := b.calls.observed.Load()
		_, stop = b.start(nil)
		b.eventually("a read by the next agent", func() bool { return b.calls.observed.Load() > seen+1 })
	}
	if n := b.sessions(0); n != 1 {
		t.Errorf("%d sessions after three restarts", n)
	}
	stop()
	if n := b.sessions(0); n != 0 {
		t.Errorf("%d sessions after a clean end", n)
	}
}

// TestHungBMC: one BMC takes requests and never answers; the other's server is held,
// fenced and booted before the first of those has timed out.
func TestHungBMC(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	if err := b.servers[1].BMC.SetReach(bmcsim.ReachHangs); err != nil {
		t.Fatal(err)
	}
	a, _ := b.start(nil)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	if r, _ := b.report(1); !r.Observation.ReadAt.IsZero() {
		t.Errorf("the hung BMC was read meanwhile: %+v", r.Observation)
	}
}

// TestEventWakes: with a poll a minute away, a power-on under a hold is found and
// forced off as soon as the BMC tells of it.
func TestEventWakes(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.poll, b.metrics = 10*time.Minute, prometheus.NewRegistry()
	b.calls.whole.Store(true)
	a, _ := b.start(nil)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	first := b.receipt(b.until("the receipt", 0, fenced))
	b.eventually("an event", func() bool {
		b.servers[0].BMC.SendEvent("Event.1.0.Test", "/redfish/v1/Systems/1")
		n, err := testutil.GatherAndCount(b.metrics, "rackboot_agent_bmc_events_total")
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		return counter(t, b.metrics, "rackboot_agent_bmc_events_total") > 0
	})
	b.servers[0].BMC.ExternalOn()
	b.until("the violation and a new receipt", 0, func(r resource.ServerReport) bool {
		return has(resource.CondHoldViolated)(r) && fenced(r) && b.receipt(r).ConfirmedAt.After(first.ConfirmedAt)
	})
}

// counter is the sum of a metric.
func counter(t *testing.T, reg *prometheus.Registry, name string, values ...string) (sum float64) {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				var has []string
				for _, l := range m.GetLabel() {
					has = append(has, l.GetValue())
				}
				if slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(has, v) }) {
					continue
				}
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// TestAnotherBoard: a BMC that comes back with another UUID is another
// server's, or its board was changed. What runs goes on and stops work; nothing is
// powered on until somebody accepts it.
func TestAnotherBoard(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.calls.whole.Store(true)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	first := b.until("an identity", 0, func(r resource.ServerReport) bool { return r.Identity != "" }).Identity

	sim := b.servers[0].BMC
	sim.Inject(bmcsim.Fault{Method: http.MethodGet, Path: sim.Hosts()[0].URI(), Merge: `{"UUID":"3f1c9a52-0000-4000-8000-0000000000ff"}`, Times: 1 << 30})
	if err := sim.SetReach(bmcsim.ReachRefused); err != nil {
		t.Fatal(err)
	}
	b.until("BMCUnreachable", 0, has(resource.CondBMCUnreachable))
	if err := sim.SetReach(bmcsim.ReachOK); err != nil {
		t.Fatal(err)
	}
	r := b.until("IdentityChanged", 0, has(resource.CondIdentityChanged))
	if r.Identity == first || sim.PowerState() != protocol.PowerOn {
		t.Errorf("identity %s after %s; the server is %s", r.Identity, first, sim.PowerState())
	}
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	n := len(b.resets(0))
	b.release(a)
	seen := b.calls.observed.Load()
	b.eventually("reads after the release", func() bool { r, _ := b.report(0); return len(r.Holds) == 0 && b.calls.observed.Load() > seen+5 })
	if got := b.resets(0); len(got) != n || sim.Override().Armed() {
		t.Errorf("resets %v, override %+v", got, sim.Override())
	}
	b.intents[0].Identity = r.Identity
	b.send(a)
	b.until("the disk boot of what was accepted", 0, func(r resource.ServerReport) bool {
		return diskBoot(r) && !has(resource.CondIdentityChanged)(r) && sim.PowerState() == protocol.PowerOn
	})
}

// answer is the answer to a question, if it came.
func (b *bench) answer(id string) (m message.Answer, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.answers {
		if a.ID == id {
			m, n = a, n+1
		}
	}
	return m, n
}

// TestAsk: questions about BMCs are answered beside everything else, each once, and
// what cannot be answered says why.
func TestAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	b.calls.whole.Store(true)
	b.metrics = prometheus.NewRegistry()
	if err := b.servers[1].BMC.SetReach(bmcsim.ReachHangs); err != nil {
		t.Fatal(err)
	}
	bmcs := []message.BMCIntent{b.intents[0].BMC, b.intents[1].BMC}
	b.intents = b.intents[:1]
	a, _ := b.start(nil)
	b.send(a)
	b.until("the first read", 0, read)
	b.incarnation() // the hub's time is known
	ask := func(id string, kind message.AskKind, bmc message.BMCIntent, in time.Duration) {
		b.deliver(a, message.LeafAsk, message.Ask{ID: id, Kind: kind, BMC: bmc, NotAfter: time.Now().Add(in)})
	}
	answered := func(id string, code protocol.Code) (m message.Answer) {
		t.Helper()
		b.eventually("the answer to "+id, func() bool {
			var n int
			m, n = b.answer(id)
			return n > 0
		})
		if m.Code != code || (code == "") != (len(m.Body) > 0) || code != "" && m.Message == "" {
			t.Errorf("%s: %+v", id, m)
		}
		return m
	}

	ask("inventory", message.AskInventory, bmcs[0], time.Minute)
	var inv []protocol.Inventory
	if err := json.Unmarshal(answered("inventory", "").Body, &inv); err != nil || len(inv) != 1 || inv[0].SystemURI == "" || len(inv[0].MACs()) == 0 {
		t.Errorf("%+v, %v", inv, err)
	}
	ask("probe", message.AskProbe, bmcs[0], time.Minute)
	var probe []protocol.Probe
	if err := json.Unmarshal(answered("probe", "").Body, &probe); err != nil || len(probe) != 1 || len(probe[0].Boot) == 0 {
		t.Errorf("%+v, %v", probe, err)
	}
	ask("firmware", message.AskFirmware, bmcs[0], time.Minute)
	var shown []protocol.Firmware
	if err := json.Unmarshal(answered("firmware", "").Body, &shown); err != nil || len(shown) != 1 || shown[0].SystemURI != inv[0].SystemURI || !shown[0].BIOS {
		t.Errorf("%+v, %v", shown, err)
	}
	b.deliver(a, message.LeafAsk, message.Ask{ID: "both", Kind: message.AskInventory, BMC: bmcs[0], NotAfter: time.Now().Add(time.Minute), Firmware: true, Attributes: []string{"BootMode"}})
	if err := json.Unmarshal(answered("both", "").Body, &inv); err != nil || len(inv) != 1 || inv[0].Firmware == nil || !slices.Equal(inv[0].Firmware.Asked, []string{"BootMode"}) ||
		len(inv[0].Firmware.Attributes) != 1 || len(inv[0].MACs()) == 0 {
		t.Errorf("%+v, %v", inv, err)
	}
	ask("odd", "weather", bmcs[0], time.Minute)
	answered("odd", protocol.CodeUnsupported)
	stranger := bmcs[0]
	stranger.Fingerprint = bmcs[1].Fingerprint
	ask("stranger", message.AskInventory, stranger, time.Minute)
	if m := answered("stranger", protocol.CodeDenied); m.Condition != resource.CondBMCDenied {
		t.Errorf("stranger: %+v", m)
	}
	ask("stranger again", message.AskInventory, stranger, time.Minute) // is not asked
	if m := answered("stranger again", protocol.CodeDenied); m.Condition != resource.CondBMCDenied || !strings.Contains(m.Message, "not tried again") {
		t.Errorf("stranger again: %+v", m)
	}

	ask("probe", message.AskProbe, bmcs[0], time.Minute) // again
	ask("late", message.AskProbe, bmcs[0], -time.Second)
	for i := range asksWaiting + asksAtOnce + 1 {
		ask("hung-"+string(rune('a'+i)), message.AskInventory, bmcs[1], 5*time.Second)
	}
	hung := func(what string, code protocol.Code, text string) {
		t.Helper()
		b.eventually(what, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.ContainsFunc(b.answers, func(m message.Answer) bool {
				return strings.HasPrefix(m.ID, "hung-") && m.Code == code && strings.Contains(m.Message, text)
			})
		})
	}
	hung("a refusal, because too many wait", protocol.CodeUnavailable, "wait already")
	hung("an answer that the BMC gave none", protocol.CodeTimeout, "did not answer in time")
	b.eventually("the end of those that wait", func() bool { return counter(t, b.metrics, "rackboot_agent_asks_total") == asksWaiting+asksAtOnce+10 })
	if _, n := b.answer("probe"); n != 1 {
		t.Errorf("%d answers to the same question", n)
	}
	if _, n := b.answer("late"); n != 0 {
		t.Error("a question that nobody waits for was answered")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.answers, func(m message.Answer) bool { return m.Nonce == "" }) {
		t.Errorf("answers without the session's nonce: %+v", b.answers)
	}
}

// Of the agent.
const (
	asksWaiting = 16
	asksAtOnce  = 2
)
