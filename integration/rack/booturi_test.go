package rack

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// presetOf is a BMC of the simulator that answers at once.
func presetOf(t *testing.T, name string) bmcsim.Personality {
	t.Helper()
	p, ok := bmcsim.Preset(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	p.Latency = bmcsim.Latency{}
	return p
}

// diary is what an agent logs.
type diary struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Write(b)
}

func (d *diary) has(s string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.buf.String(), s)
}

// around is what is logged beside a word.
func (d *diary) around(s string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := d.buf.String()
	i := strings.Index(text, s)
	if i < 0 {
		return ""
	}
	return text[max(0, i-400):i]
}

// uriBench is a server whose BMC is of the preset and has a claim that is given its URL.
// What the agent logs, all of it, is in the diary.
func uriBench(t *testing.T, preset string) (*bench, *diary) {
	t.Helper()
	b := newBench(t, 1, presetOf(t, preset))
	b.socket = socketPath(t)
	d := &diary{}
	b.log = slog.New(slog.NewJSONHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.claim(0)
	b.intents[0].Boot.Reach = resource.ReachURI
	return b, d
}

// given waits for the URL in the BMC, and is its token.
func (b *bench) given() (token string) {
	b.t.Helper()
	b.eventually("the URL in the BMC", func() bool {
		_, token, _ = strings.Cut(b.servers[0].BMC.Hosts()[0].BootURI(), "/b/")
		token, _, _ = strings.Cut(token, "/")
		return token != ""
	})
	return token
}

// noToken checks that nobody was told the token, and that the BMC has no URL (P12).
func (b *bench) noToken(d *diary, token string) {
	b.t.Helper()
	b.eventually("a BMC without a URL", func() bool { return b.servers[0].BMC.Hosts()[0].BootURI() == "" })
	if d.has(token) || !d.has(`"action":"arm"`) {
		b.t.Errorf("the token %q is in the log, or there is none: %s", token, d.around(token))
	}
	m, _ := b.newest()
	traces := b.traceOf("any", func(resource.Trace) bool { return true })
	for _, v := range []any{m, traces} {
		if raw, err := json.Marshal(v); err != nil || strings.Contains(string(raw), token) {
			b.t.Errorf("%v, the token is in %s", err, raw)
		}
	}
}

// TestBootURI boots a server that nobody of ours answers by DHCP: its BMC is given the URL
// with the override, and gives it up when the boot is over.
func TestBootURI(t *testing.T) {
	for _, preset := range []string{"SupermicroURI", "BlueFieldTargets", "AMINextReset"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			bootURI(t, preset)
		})
	}
}

func bootURI(t *testing.T, preset string) {
	b, log := uriBench(t, preset)
	a, _ := b.start(nil)
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	var prov resource.Provisioned
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), wire.FactProvisioned, r.Provisioned, &prov); err != nil {
		t.Fatal(err)
	}
	if prov.ImageDigest != b.image.Digest || prov.Evidence != protocol.EvidenceInstalled {
		t.Errorf("provisioned says %+v", prov)
	}
	b.booted(0, 1, 1)
	if _, _, refused, inst := b.servers[0].Boots.Counts(); inst != 1 || refused != 0 {
		t.Errorf("%d installations, %d refused", inst, refused)
	}
	if base, leased := b.servers[0].Boots.Installing(); leased.IsValid() || !strings.HasPrefix(base, "http://"+b.http.String()+"/b/") {
		t.Errorf("the installer was told %q, leased %v", base, leased)
	}
	if status, _, _ := b.get("GET", b.servers[0].Boots.LastURL(), b.http.Addr()); status != 404 {
		t.Errorf("after the end the file is answered %d", status)
	}
	base, _ := b.servers[0].Boots.Installing()
	_, token, _ := strings.Cut(base, "/b/")
	b.noToken(log, strings.TrimSuffix(token, "/"))
}

// Each row ends a boot between the write of the URL and its power-on: the URL goes out of the
// BMC, and nobody is told its token.
func TestBootURIEnds(t *testing.T) {
	refuse := bmcsim.Fault{Method: "POST", Path: "ComputerSystem.Reset", Status: 409, Times: 1000}
	for name, row := range map[string]struct {
		end  func(b *bench, a *agent.Agent, stop func())
		want resource.AttemptCode
	}{
		"the claim is released": {func(b *bench, a *agent.Agent, _ func()) {
			in := &b.intents[0]
			in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
			b.send(a)
			b.until("released", 0, func(r resource.ServerReport) bool { return r.Released })
			if uri := b.servers[0].BMC.Hosts()[0].BootURI(); uri != "" {
				b.t.Error("the claim has ended, and the BMC has its URL")
			}
		}, ""},
		"a hold": {func(b *bench, a *agent.Agent, _ func()) {
			b.hold(a, "hold-1", resource.StopHard)
			b.until("fenced", 0, fenced)
		}, resource.AttemptWithdrawn},
		"the agent is restarted, and the claim has gone": {func(b *bench, _ *agent.Agent, stop func()) {
			stop()
			in := &b.intents[0]
			in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
			a, _ := b.start(nil)
			b.send(a)
			b.until("a read", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff })
			b.ahead.Add(int64(onWait))
			b.until("released", 0, func(r resource.ServerReport) bool { return r.Released })
		}, ""},
		"the BMC refuses to power on": {func(b *bench, _ *agent.Agent, _ func()) {
			b.until("the order", 0, func(r resource.ServerReport) bool {
				return r.Attempt != nil && r.Attempt.State == resource.AttemptPowerRequested
			})
			b.ahead.Add(int64(6 * time.Minute)) // the time of an On
		}, resource.AttemptPowerFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, log := uriBench(t, "SupermicroURI")
			b.servers[0].BMC.Inject(refuse)
			a, stop := b.start(nil)
			b.send(a)
			token := b.given()
			row.end(b, a, stop)
			if row.want != "" {
				b.until("the end of the attempt", 0, func(r resource.ServerReport) bool {
					return r.Attempt != nil && r.Attempt.Code == row.want
				})
			}
			b.noToken(log, token)
			// The end may be reported while the BMC is still told.
			b.eventually("that it is not armed", func() bool { o := b.servers[0].BMC.Override(); return !o.Armed() })
		})
	}
}

// A restart between the URL and the power-on goes on with the same attempt and URL.
func TestBootURIRestart(t *testing.T) {
	t.Parallel()
	b, log := uriBench(t, "SupermicroURI")
	b.servers[0].BMC.Inject(bmcsim.Fault{Method: "POST", Path: "ComputerSystem.Reset", Status: 409, Times: 1000})
	a, stop := b.start(nil)
	b.send(a)
	token := b.given()
	stop()
	b.servers[0].BMC.ClearFaults()
	a, _ = b.start(nil)
	b.send(a)
	b.until("the disk boot after the installation", 0, diskBoot)
	if base, _ := b.servers[0].Boots.Installing(); !strings.HasSuffix(base, "/b/"+token+"/") {
		t.Errorf("booted by %q, not by the URL of before", base)
	}
	b.noToken(log, token)
}

// TestBootNextWay: firmware that does no HTTP by DHCP is given the URL with the next attempt
// of the grant; the trace says that, and why (metal-operator 649).
func TestBootNextWay(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, presetOf(t, "SupermicroURI"), func(c *sim.ServerConfig) { c.PXEForHTTP = true })
	b.socket = socketPath(t)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("PXE", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptConsumed && r.Attempt.Observed == protocol.TargetPxe
	})
	b.ahead.Add(int64(6 * time.Minute)) // the time to fetch
	b.until("the disk boot after the installation", 0, diskBoot)
	first := b.traceOf("the first attempt", func(tr resource.Trace) bool { return tr.Code == resource.AttemptAskedByPXE })
	second := b.traceOf("the second", func(tr resource.Trace) bool {
		return tr.Intended == protocol.TargetUefiHTTP && tr.State == resource.AttemptSucceeded
	})
	if second.Serial != first.Serial+1 {
		t.Errorf("%d after %d", second.Serial, first.Serial)
	}
	inOrder(t, second, "attempt AttemptBegun UefiHttp boot for the claim, by a URL in the BMC, because that by DHCP ended with AskedByPXE", "redfish power action on", "attempt BootFileFetched", "attempt Provisioned")
	if n, _, _, _ := b.servers[0].Boots.Counts(); n != 1 || b.servers[0].BMC.Hosts()[0].BootURI() != "" {
		t.Errorf("%d boots, the BMC has %q", n, b.servers[0].BMC.Hosts()[0].BootURI())
	}
}

// A BMC that keeps the URL is said so, without the URL; the disk boots all the same.
func TestBootURIKept(t *testing.T) {
	t.Parallel()
	b, log := uriBench(t, "SupermicroURI")
	a, came, goOn := b.stopsAt("agent.act.on") // nothing is cleared before
	b.send(a)
	token := b.given()
	b.eventually("the order to power on", came)
	b.servers[0].BMC.Inject(bmcsim.Fault{Method: "PATCH", Status: 400, Body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.0.PropertyNotWritable","Message":"HttpBootUri http://x/b/` + token + `/boot.efi"}]}}`, Times: 2})
	goOn()
	b.until("the condition", 0, has(resource.CondBootURLNotCleared))
	b.until("the disk boot after the installation", 0, diskBoot)
	b.noToken(log, token)
}

// A BMC without HttpBootUri powers nothing on, and the attempt says what lacks.
func TestBootURIUnsupported(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Reach = resource.ReachURI
	b.send(a)
	r := b.until("the refusal", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFailed
	})
	if r.Attempt.Code != resource.AttemptNotStored || !strings.Contains(r.Attempt.Reason, "HttpBootUri") || r.Observation.Power != protocol.PowerOff {
		t.Errorf("%+v, %s", r.Attempt, r.Observation.Power)
	}
	if n, _, _, _ := b.servers[0].Boots.Counts(); n != 0 {
		t.Errorf("%d network boots", n)
	}
}
