package rack

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

const nextPassword = "Next-Canary-0001"

// changing seals the next account of the first server's BMC beside the one in use.
func (b *bench) changing(version uint64, next resource.BMCAccount, drop resource.DropOld) {
	b.t.Helper()
	k, err := sealbox.ParseKey(b.key.Seed())
	if err != nil {
		b.t.Fatal(err)
	}
	to := sealbox.Binding{Agent: agentID, BMC: b.intents[0].BMC.Name, Secret: "bmc", UID: "secret-uid", Version: version}
	s, err := sealbox.Seal(k.Public(), to, message.BMCCredentials{
		BMCAccount: resource.BMCAccount{Username: "admin", Password: "secret"}, Next: &next, Drop: drop, Change: "01CHANGE",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.intents[0].BMC.CredentialsRef, b.intents[0].BMC.Sealed = "secret:bmc", s
}

// changed waits for the end of the change.
func (b *bench) changed() resource.AccountReport {
	b.t.Helper()
	var out resource.AccountReport
	b.until("the end of the change", 0, func(r resource.ServerReport) bool {
		if r.Account == nil || r.Account.Change != "01CHANGE" || r.Account.State == resource.AccountChanging {
			return false
		}
		out = *r.Account
		return true
	})
	return out
}

// TestAccountKilled kills the server's loop at each point of a change, of the same
// user's password and to another user, at a BMC that locks after three wrong passwords
// and at one that changes later than it says.
func TestAccountKilled(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"AccountLocks", "AccountLater"} {
		for _, user := range []string{"admin", "rackboot"} {
			for _, point := range []string{"writing", "written", "proved", "dropped", "rotated"} {
				if point == "dropped" && user == "admin" {
					continue // there is nobody to drop
				}
				t.Run(preset+" "+user+" "+point, func(t *testing.T) {
					t.Parallel()
					p, _ := bmcsim.Preset(preset)
					p.Account.ApplyAfter /= 6 // well within the tries at the polls of this bench
					b := newBench(t, 1, p)
					b.every = 100 * time.Millisecond
					b.calls.whole.Store(true)
					b.changing(2, resource.BMCAccount{Username: user, Password: nextPassword}, resource.DropDisable)
					var dead atomic.Bool
					died := make(chan struct{})
					a, stop := b.start(func(at string) {
						if at == "agent.account."+point && dead.CompareAndSwap(false, true) {
							close(died)
							runtime.Goexit()
						}
					})
					b.applied(a)
					select {
					case <-died:
					case <-time.After(30 * time.Second):
						t.Fatal("it did not come to the point")
					}
					stop()
					sim := b.servers[0].BMC
					if !sim.Logs("admin", "secret") && !sim.Logs(user, nextPassword) {
						t.Fatal("neither account logs in")
					}
					b.link.mute(true) // it goes on without the hub
					_, stop = b.start(nil)
					b.link.mute(false)
					if r := b.changed(); point == "writing" { // nothing was sent
						if r.State != resource.AccountKept || !sim.Logs("admin", "secret") {
							t.Errorf("%+v", r)
						}
						stop()
						return
					} else if r.State != resource.AccountRotated || r.Reason != "" {
						t.Errorf("%+v", r)
					}
					b.eventually("the end of the old account", func() bool { return !sim.Logs("admin", "secret") })
					b.reads(0)
					if sim.Logs("admin", "secret") || !sim.Logs(user, nextPassword) || sim.Wrong() > 1 {
						t.Errorf("old logs in %v, new %v, %d wrong", sim.Logs("admin", "secret"), sim.Logs(user, nextPassword), sim.Wrong())
					}
					stop()
				})
			}
		}
	}
}

// TestAccountEnds: each row is a BMC, the next account, and the end.
func TestAccountEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		preset, user, password string
		want                   resource.AccountState
		old                    bool // logs in afterwards
	}{
		{"Plain", "admin", nextPassword, resource.AccountRotated, false},
		{"AccountSlots", "rackboot", nextPassword, resource.AccountRotated, true},
		{"AccountMustChange", "admin", nextPassword, resource.AccountRotated, false},
		{"AccountMustChange", "rackboot", nextPassword, resource.AccountKept, true},
		{"AccountKeepsOld", "admin", nextPassword, resource.AccountKept, true},
		{"AccountReadOnly", "rackboot", nextPassword, resource.AccountKept, true},
		{"AccountMax16", "admin", nextPassword + "-longer", resource.AccountKept, true},
		{"AccountMax20", "admin", nextPassword + "-longer", resource.AccountKept, true},
		{"AccountCuts16", "admin", nextPassword + "-longer", resource.AccountLost, false},
		{"AccountNeedsMatch", "admin", nextPassword, resource.AccountRotated, false},
	} {
		t.Run(row.preset+" "+row.user, func(t *testing.T) {
			t.Parallel()
			p, _ := bmcsim.Preset(row.preset)
			b := newBench(t, 1, p)
			b.every = 100 * time.Millisecond
			b.calls.whole.Store(true)
			b.changing(2, resource.BMCAccount{Username: row.user, Password: row.password}, resource.DropNever)
			a, stop := b.start(nil)
			b.applied(a)
			r := b.changed()
			sim := b.servers[0].BMC
			if r.State != row.want || (r.Reason == "") != (row.want == resource.AccountRotated) || sim.Logs("admin", "secret") != row.old {
				t.Errorf("%+v, old logs in %v", r, sim.Logs("admin", "secret"))
			}
			if wrong := sim.Wrong(); wrong > 3 { // three only where neither logs in
				t.Errorf("%d wrong logins in a row", wrong)
			}
			stop()
		})
	}
}
