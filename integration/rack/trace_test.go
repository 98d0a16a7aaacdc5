package rack

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent/local"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// traceOf asks the agent over its socket until the newest trace is so.
func (b *bench) traceOf(what string, so func(resource.Trace) bool) resource.Trace {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), await)
	defer cancel()
	c := local.NewClient(b.socket)
	for {
		all, err := c.Trace(ctx, b.servers[0].Name, 0)
		for n := all.Serial; err == nil && n >= 1; n-- {
			var t resource.Trace
			if t, err = c.Trace(ctx, b.servers[0].Name, n); err == nil && so(t) {
				return t
			}
		}
		if ctx.Err() != nil {
			b.t.Fatalf("no trace of %s: %v, %+v", what, err, all)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// inOrder wants rows that begin so, in this order, among others.
func inOrder(t *testing.T, tr resource.Trace, want ...string) {
	t.Helper()
	rest := want
	for _, r := range tr.Rows {
		if len(rest) > 0 && strings.HasPrefix(string(r.Source)+" "+r.What+" "+r.Detail, rest[0]) {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		var got []string
		for _, r := range tr.Rows {
			got = append(got, string(r.Source)+" "+r.What+" "+r.Detail)
		}
		t.Errorf("no row %q at its place in\n  %s", rest[0], strings.Join(got, "\n  "))
	}
}

// TestTrace: a first boot by each method shows the rows of all who saw something of it,
// in order, and none of them has the token.
func TestTrace(t *testing.T) {
	for _, method := range []resource.FirstBoot{resource.FirstBootUefiHTTP, resource.FirstBootPxe} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			b.socket = filepath.Join(b.dir, "agent.sock")
			a, stop := b.start(nil)
			b.claim(0)
			b.intents[0].Boot.BootPolicy.FirstBoot = method
			b.grant(0)
			b.send(a)
			b.until("the disk boot after the installation", 0, diskBoot)
			file := []string{"dhcp DISCOVER HTTPClient", "dhcp REQUEST HTTPClient", "http GET 200 "}
			if method == resource.FirstBootPxe {
				file = []string{"dhcp DISCOVER PXEClient", "dhcp REQUEST PXEClient", "tftp done "}
			}
			first := b.traceOf("the first boot", func(tr resource.Trace) bool {
				return tr.State == resource.AttemptSucceeded && tr.Intended == method.Target() && slices.ContainsFunc(tr.Rows, func(r resource.TraceRow) bool { return r.What == "Provisioned" })
			})
			inOrder(t, first, slices.Concat([]string{
				"attempt GrantUsed", "attempt AttemptBegun " + string(method) + " boot for the claim", "redfish write override " + string(method) + " Once UEFI: accepted", "redfish read back " + string(method) + " Once",
				"attempt OverrideArmed", "attempt PowerOnRequested", "redfish power action on: accepted",
			}, file, []string{"attempt BootFileFetched", "report installed", "attempt Provisioned"})...)
			inOrder(t, first, "redfish power action", "redfish power", "redfish OverrideConsumed", "attempt BootFileFetched")
			if first.Observed != method.Target() || first.Code != "" || first.Purpose != resource.PurposeClaim {
				t.Errorf("%+v", first)
			}
			disk := b.traceOf("the disk boot", func(tr resource.Trace) bool {
				return tr.Intended == protocol.TargetHdd && tr.State == resource.AttemptSucceeded
			})
			inOrder(t, disk, "attempt AttemptBegun Hdd boot", "redfish write override Hdd Once", "attempt DiskBoot")
			if disk.Serial != first.Serial+1 || !slices.Equal(disk.Kept, []int{1, 2}) {
				t.Errorf("serial %d after %d, kept %v", disk.Serial, first.Serial, disk.Kept)
			}
			base, _ := b.servers[0].Boots.Installing()
			_, token, _ := strings.Cut(base, "/b/")
			token, _, _ = strings.Cut(token, "/")
			for _, tr := range []resource.Trace{first, disk} {
				raw, err := json.Marshal(tr)
				if err != nil || token == "" || strings.Contains(string(raw), token) {
					t.Errorf("%v, the token %q is in %s", err, token, raw)
				}
			}

			// A restart keeps what was written, and goes on with its serials.
			stop()
			b.start(nil)
			again := b.traceOf("the first boot after a restart", func(tr resource.Trace) bool { return tr.Serial == first.Serial })
			if len(again.Rows) < len(first.Rows) || again.State != resource.AttemptSucceeded {
				t.Errorf("of %d rows %d are left: %+v", len(first.Rows), len(again.Rows), again)
			}
		})
	}
}

// await bounds the wait for a trace.
const await = 30 * time.Second

// TestTraceOfFailures: what was seen of a boot that fails, and its end with the code, each
// with the metric that counts it.
func TestTraceOfFailures(t *testing.T) {
	for want, c := range map[resource.AttemptCode]struct {
		server  func(*sim.ServerConfig)
		segment func(*resource.SegmentIntent)
		wait    resource.AttemptState
		later   time.Duration // until the agent gives up
		rows    []string
	}{
		resource.AttemptNoDHCP: {
			server: func(c *sim.ServerConfig) { c.DHCP = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9} },
			wait:   resource.AttemptConsumed, later: 6 * time.Minute,
			rows: []string{"redfish power action on: accepted", "redfish OverrideConsumed", "attempt AttemptFailed", "redfish power action force-off: accepted"},
		},
		resource.AttemptFetchFailed: {
			segment: func(s *resource.SegmentIntent) { s.BaseURL = "http://127.0.0.1:9" },
			wait:    resource.AttemptConsumed, later: 6 * time.Minute,
			rows: []string{"redfish power action on: accepted", "dhcp REQUEST HTTPClient amd64 uefi HTTP, 127.77.0.", "attempt AttemptFailed"},
		},
		resource.AttemptNoReport: {
			server: func(c *sim.ServerConfig) { c.Install = time.Hour },
			wait:   resource.AttemptFetched, later: 3 * time.Hour,
			rows: []string{"dhcp DISCOVER HTTPClient", "http GET 200", "attempt BootFileFetched", "attempt AttemptFailed"},
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			change := c.server
			if change == nil {
				change = func(*sim.ServerConfig) {}
			}
			b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), change)
			b.socket, b.change = filepath.Join(b.dir, "agent.sock"), c.segment
			a, _ := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("the state before", 0, func(r resource.ServerReport) bool { return r.Attempt != nil && r.Attempt.State == c.wait })
			if want == resource.AttemptFetchFailed {
				b.traceOf("its request", func(tr resource.Trace) bool {
					return slices.ContainsFunc(tr.Rows, func(r resource.TraceRow) bool {
						return r.Source == protocol.TraceDHCP && strings.HasPrefix(r.What, "REQUEST")
					})
				})
			}
			b.ahead.Store(int64(c.later))
			tr := b.traceOf("the end", func(tr resource.Trace) bool {
				return tr.Code == want && slices.ContainsFunc(tr.Rows, func(r resource.TraceRow) bool { return r.What == "AttemptFailed" }) &&
					(want != resource.AttemptNoDHCP || slices.ContainsFunc(tr.Rows, func(r resource.TraceRow) bool { return strings.HasPrefix(r.Detail, "force-off") }))
			})
			inOrder(t, tr, c.rows...)
			if tr.State != resource.AttemptFailed || tr.Reason == "" || tr.Serial != 1 {
				t.Errorf("%+v", tr)
			}
			if want == resource.AttemptNoDHCP && slices.ContainsFunc(tr.Rows, func(r resource.TraceRow) bool { return r.Source == protocol.TraceDHCP }) {
				t.Errorf("somebody asked: %+v", tr.Rows)
			}
			if n := counter(t, b.scraped, "rackboot_agent_attempts_total", "claim", "UefiHttp", string(want)); n != 1 {
				t.Errorf("counted %v times", n)
			}
		})
	}
}
