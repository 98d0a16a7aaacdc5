package rack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// on is an On that a BMC accepted.
type on struct {
	at     time.Time
	server int
}

// ons are those of all BMCs since a time, in their order.
func (b *bench) ons(since time.Time) (all []on) {
	for i, s := range b.servers {
		for _, h := range s.BMC.History() {
			if h.What == bmcsim.RecordReset && !h.At.Before(since) && (h.Detail == "On" || strings.HasSuffix(h.Detail, "Restart")) {
				all = append(all, on{h.At, i})
			}
		}
	}
	slices.SortFunc(all, func(a, b on) int { return a.at.Compare(b.at) })
	return all
}

// spread fails where more servers than the limit allows were switched on within its window, by the BMCs' own logs.
func (b *bench) spread(since time.Time) {
	b.t.Helper()
	all := b.ons(since)
	for _, first := range all {
		rack, feeds := map[int]bool{}, map[string]map[int]bool{}
		for _, o := range all {
			if d := o.at.Sub(first.at); d < 0 || d >= b.inrush.Window {
				continue
			}
			rack[o.server] = true
			feed := b.intents[o.server].Feed
			if feeds[feed] == nil {
				feeds[feed] = map[int]bool{}
			}
			feeds[feed][o.server] = true
		}
		if len(rack) > b.inrush.Servers {
			b.t.Errorf("%d servers within %v, the limit is %d", len(rack), b.inrush.Window, b.inrush.Servers)
		}
		for feed, of := range feeds {
			if feed != "" && len(of) > b.inrush.FeedServers {
				b.t.Errorf("%d servers of feed %s within %v, the limit is %d", len(of), feed, b.inrush.Window, b.inrush.FeedServers)
			}
		}
	}
}

// crowd is a bench of twelve servers on two feeds, the last of which has none, of whom three and two of a feed may be switched
// on within a second and a half.
func crowd(t *testing.T) (b *bench, a *agent.Agent, stop func()) {
	t.Helper()
	b = newBenchOf(t, t.TempDir(), 12, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Post = 20 * time.Millisecond })
	b.inrush = &message.InrushIntent{Servers: 3, FeedServers: 2, Window: 1500 * time.Millisecond}
	a, stop = b.start(nil)
	for i := range b.servers {
		b.claim(i)
		b.intents[i].Owner.UID, b.intents[i].Boot.Owner.UID = "claim-"+b.servers[i].Name, "claim-"+b.servers[i].Name
		b.grant(i)
		if i < 11 {
			b.intents[i].Feed = []string{"a", "b"}[i%2]
		}
	}
	return b, a, stop
}

// TestInrush: twelve claims come at once. No BMC is given an On before its turn, each server shows what it waits for and is
// armed with nothing meanwhile, and all are installed. Then the hub is silent, all of them are held and let go at the agent's
// documents, and the agent is started again in the midst of their coming back: it waits a window, and goes on within the limit.
func TestInrush(t *testing.T) {
	t.Parallel()
	b, a, stop := crowd(t)
	began := time.Now()
	b.send(a)
	last := b.last(began)
	if w := last.Awaits; w.Until.Before(w.Since) {
		t.Errorf("it awaits %+v", w)
	}
	if v := counter(t, b.scraped, "rackboot_agent_inrush_waiting_servers"); v < 1 {
		t.Errorf("%v servers wait", v)
	}
	for i := range b.servers {
		b.until("the disk boot", i, diskBoot)
		b.armedFor(i)
	}
	b.spread(began)
	if took := b.ons(began); took[len(took)-1].at.Sub(took[0].at) < 3*b.inrush.Window {
		t.Errorf("%d orders in %v", len(took), took[len(took)-1].at.Sub(took[0].at))
	}

	for _, s := range b.servers {
		b.holds = append(b.holds, resource.ActiveHold{ID: "h-" + s.Name, HoldSpec: resource.HoldSpec{Server: s.Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "h", Mode: resource.StopHard}}})
	}
	b.send(a)
	for i := range b.servers {
		b.until("the receipt", i, fenced)
	}
	released := time.Now()
	b.release(a)
	b.link.mute(true)
	b.eventually("the first that come back", func() bool { return len(b.ons(released)) >= 3 })
	stop()
	again := time.Now()
	_, _ = b.start(nil)
	for i := range b.servers {
		b.until("the disk boot without the hub", i, func(r resource.ServerReport) bool {
			return len(r.Holds) == 0 && diskBoot(r) && r.Observation.Power == protocol.PowerOn
		})
	}
	b.spread(released)
	if after := b.ons(again); len(after) == 0 || after[0].at.Sub(again) < b.inrush.Window {
		t.Errorf("orders after the restart at %v: %v", again, after)
	}
}

// last waits until a server waits for its turn and says until when, and returns its report: nothing was armed for it since, and its grant is whole.
func (b *bench) last(since time.Time) (r resource.ServerReport) {
	b.t.Helper()
	b.eventually("a server that waits", func() bool {
		for i := range b.servers {
			have := false
			if r, have = b.report(i); have && r.Awaits != nil && r.Awaits.For == resource.WaitInrush && r.Awaits.Until != nil {
				if r.Attempt != nil || len(b.armed(i)) > 0 && len(b.ons(since)) == 0 {
					b.t.Errorf("%s waits with attempt %+v, armed %v", r.Server, r.Attempt, b.armed(i))
				}
				return true
			}
		}
		return false
	})
	return r
}

// TestInrushHold: a hold on a server that waits, and one on a server that runs, are enforced at once, however long the line is;
// and who is held gives its place in the line to others.
func TestInrushHold(t *testing.T) {
	t.Parallel()
	b, a, _ := crowd(t)
	b.inrush.Window = 5 * time.Minute // the others are not switched on in this test
	b.ahead.Store(0)
	b.send(a)
	b.last(time.Now())
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	if n := b.ons(time.Time{}); len(n) != 0 {
		t.Errorf("%d were switched on within a window of the start", len(n))
	}
	b.ahead.Add(int64(b.inrush.Window))
	b.eventually("three others that are switched on", func() bool { return len(b.ons(time.Time{})) == 3 })
	i := b.ons(time.Time{})[0].server
	if i == 0 {
		t.Error("the held server was switched on")
	}
	b.holds = append(b.holds, resource.ActiveHold{ID: "hold-2", HoldSpec: resource.HoldSpec{Server: b.servers[i].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "hold-2", Mode: resource.StopHard}}})
	b.send(a)
	b.until("the receipt of one that ran", i, fenced)
	b.spread(time.Time{})
}
