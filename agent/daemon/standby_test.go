package daemon

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"rackboot/agent/guard"
	"rackboot/agent/local"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
)

// joinsToStandBy has the agent's identity say that it joined to stand by, with that term.
func (g *guarded) joinsToStandBy(term uint64) {
	g.t.Helper()
	id, err := loadIdentity(g.cfg.DataDir)
	g.must(err)
	id.Answer.Standby, id.Answer.Term = true, term
	g.must(id.save(g.cfg.DataDir, nil))
}

// hears has the agent, which does not run, hear documents of its standby's term: marked, and of a failover where that is
// so.
func (g *guarded) hears(failover bool) {
	g.t.Helper()
	db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	set := guard.Open(guard.Config{Agent: "r1-1", Dir: g.cfg.DataDir, Clock: time.Now})
	st, err := store.Open(store.Config{DB: db, Guard: set, NewID: rand.Text})
	g.must(err)
	v, err := st.Servers.View(heldServer)
	g.must(err)
	rack := v.Rack
	hear := func(version uint64, standby bool, over ...string) {
		rack.Standby, rack.TakenOver = standby, over
		_, _, err = st.Documents.ApplyHolds(time.Now(), message.HoldDoc{Head: protocol.Head{Version: version}, Agent: "r1-1", Term: 2, Standby: standby, Holds: []resource.ActiveHold{v.Holds[0].ActiveHold}}, "holds")
		g.must(err)
		_, _, err = st.Documents.ApplyRack(message.RackDoc{
			Head: protocol.Head{Version: version}, Agent: "r1-1", Term: 2, Shards: 1, Servers: []message.ServerIntent{v.Intent.ServerIntent}, Rack: &rack,
		}, "rack", func(message.ServerIntent) (*store.Credentials, error) { return nil, nil })
		g.must(err)
	}
	if hear(10, true); failover {
		hear(11, false, "r1-0")
	}
	a, _, err := openAnchor(g.cfg.DataDir, nil, slog.New(slog.DiscardHandler))
	g.must(err)
	g.must(errors.Join(a.take(st), a.close(), db.Close(), set.Close()))
}

func (g *guarded) status() local.Status {
	g.t.Helper()
	s, err := local.NewClient(g.cfg.Socket).Status(g.ctx)
	g.must(err)
	return s
}

// TestStandbyLosesItsStore: an agent that stands by guards nothing without its store, though it has the holds and a way to
// the BMC, whether or not it had heard of its rack; with a new store it stands by again. One that took over guards.
func TestStandbyLosesItsStore(t *testing.T) {
	for name, row := range map[string]struct {
		join, stand, failover bool
	}{
		"it stands by": {join: true, stand: true},
		"it joined with the disk of one that served": {join: true},
		"it took over": {join: true, stand: true, failover: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, t.TempDir())
			if row.stand {
				g.hears(row.failover)
			}
			g.joinsToStandBy(2)
			aside := g.cfg.path("state") + ".aside"
			g.must(os.CopyFS(aside, os.DirFS(g.cfg.path("state"))))
			g.must(os.Truncate(g.cfg.path("state", "MANIFEST"), 5))
			g.bmc.ExternalOn()
			g.start()
			g.until("guard mode", g.guards)
			if row.failover {
				g.until("that what ran is forced off", func() bool { return g.bmc.PowerState() == protocol.PowerOff && len(g.resets()) > 0 })
				g.press()
				g.onlyForcedOff()
				if g.status().Standby {
					t.Error("it says that it stands by")
				}
				g.replace(aside)
				g.until("the end of guard mode", g.serves)
				g.until("a proof", g.fenced)
				g.end()
				return
			}
			if s := g.status(); !s.Standby || s.Guard == nil || !s.Guard.Frozen {
				t.Errorf("it says %+v", s)
			}
			g.must(AcceptLoss(g.cfg, "operator", "the disk was replaced"))
			g.until("the end of guard mode", g.serves)
			if s := g.status(); !s.Standby || s.Holds != 1 {
				t.Errorf("with a new store it says %+v", s)
			}
			g.end()
			if asked := g.bmc.Requests(); len(asked) != 0 || g.bmc.PowerState() != protocol.PowerOn {
				t.Errorf("its BMC was asked %d times, and is %s", len(asked), g.bmc.PowerState())
			}
			if got := g.events(); row.stand && count(got, resource.EventHoldEnforced) != 0 {
				t.Errorf("the hub is told that it enforces: %v", got)
			}
		})
	}
}
