package redfish_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

const nextPassword = "Next-Canary-0001"

func as(t *testing.T, b *sim.BMC, user, pass string, sessions redfish.SessionStore) bmc.Accounts {
	t.Helper()
	to := target(b)
	to.Credentials = bmc.Credentials{Username: user, Password: pass}
	return open(t, redfish.Config{Sessions: sessions}, to).(bmc.Accounts)
}

// quietly checks that an error has no password.
func quietly(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error()+protocol.HintOf(err), "Canary") || strings.Contains(err.Error(), password)) {
		t.Fatalf("it has a password: %v", err)
	}
}

// TestPresetsAccount: each row is a BMC, what is written, and what comes of it.
func TestPresetsAccount(t *testing.T) {
	long := nextPassword + "-and-longer"
	for _, row := range []struct {
		preset, user, pass string
		code               protocol.Code // of the write
		logs               bool          // the next logs in afterwards
		stays              bool          // so does the first
	}{
		{"Plain", username, nextPassword, "", true, false},
		{"Plain", "own", nextPassword, "", true, true},
		{"AccountSlots", username, nextPassword, "", true, false},
		{"AccountSlots", "own", nextPassword, "", true, true},
		{"AccountMustChange", username, nextPassword, "", true, false},
		{"AccountMustChange", "own", nextPassword, protocol.CodeDenied, false, true},
		{"AccountLocks", "own", nextPassword, "", true, true},
		{"AccountKeepsOld", username, nextPassword, "", false, true},
		{"AccountMax20", username, nextPassword, "", true, false},
		{"AccountMax20", username, long, protocol.CodeInvalid, false, true},
		{"AccountMax16", username, long, protocol.CodeInvalid, false, true},
		{"AccountCuts16", username, long, "", false, false},
		{"AccountCuts16", username, nextPassword, "", true, false},
		{"AccountReadOnly", username, nextPassword, protocol.CodeUnsupported, false, true},
		{"AccountReadOnly", "own", nextPassword, protocol.CodeUnsupported, false, true},
		{"AccountNeedsMatch", username, nextPassword, "", true, false},
		{"AccountNeedsMatch", "own", nextPassword, "", true, true},
	} {
		t.Run(row.preset+" "+row.user, func(t *testing.T) {
			t.Parallel()
			p, ok := sim.Preset(row.preset)
			if !ok {
				t.Fatal("no such preset")
			}
			r := newRig(t, p)
			err := as(t, r.bmc, username, password, nil).PutAccount(deadline(t), bmc.Credentials{Username: row.user, Password: row.pass}, bmc.RoleOperator)
			quietly(t, err)
			if protocol.CodeOf(err) != row.code || err != nil && protocol.HintOf(err) == "" {
				t.Fatalf("%v (%s), want %q", err, protocol.HintOf(err), row.code)
			}
			if r.bmc.Logs(row.user, row.pass) != row.logs || r.bmc.Logs(username, password) != row.stays {
				t.Errorf("next logs in %v, first %v", r.bmc.Logs(row.user, row.pass), r.bmc.Logs(username, password))
			}
			err = as(t, r.bmc, row.user, row.pass, nil).Prove(deadline(t))
			quietly(t, err)
			if (err == nil) != row.logs || err != nil && protocol.CodeOf(err) != protocol.CodeDenied {
				t.Errorf("the proof is %v", err)
			}
		})
	}
}

// A session that is kept says nothing of a password, and a refusal of before does not
// stop a proof.
func TestProveIsALogin(t *testing.T) {
	r := newRig(t, sim.Plain())
	kept := &memory{}
	first := as(t, r.bmc, username, password, kept)
	if err := first.Prove(deadline(t)); err != nil {
		t.Fatal(err)
	}
	wrong := as(t, r.bmc, username, nextPassword, kept)
	for range 2 {
		if err := wrong.Prove(deadline(t)); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Fatalf("proved by the session of another password: %v", err)
		}
	}
	if n := r.bmc.Wrong(); n != 2 {
		t.Errorf("%d logins were refused, want 2", n)
	}
	if err := first.PutAccount(deadline(t), bmc.Credentials{Username: username, Password: nextPassword}, bmc.RoleOperator); err != nil {
		t.Fatal(err)
	}
	if err := wrong.Prove(deadline(t)); err != nil {
		t.Errorf("refused, and right now: %v", err)
	}
	if err := first.Prove(deadline(t)); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the old one: %v", err)
	}
}

// An account that logs in and is not enough is told from one that is refused.
func TestProveLimited(t *testing.T) {
	p, _ := sim.Preset("AccountWeakRole")
	r := newRig(t, p)
	p, _ = sim.Preset("AccountMustChange")
	must := newRig(t, p)
	var limited *bmc.Limited
	if err := as(t, must.bmc, username, password, nil).Prove(deadline(t)); !errors.As(err, &limited) || !limited.MustChange {
		t.Errorf("a password that must be changed: %v", err)
	}
	own := bmc.Credentials{Username: "own", Password: nextPassword}
	if err := as(t, r.bmc, username, password, nil).PutAccount(deadline(t), own, bmc.RoleOperator); err != nil {
		t.Fatal(err)
	}
	// It reads and sees the reset action; it may not change another's account.
	err := as(t, r.bmc, "own", nextPassword, nil).DisableAccount(deadline(t), username)
	if protocol.CodeOf(err) != protocol.CodeDenied || !r.bmc.Logs(username, password) {
		t.Errorf("a reader disables: %v", err)
	}
}

func TestDisableAccount(t *testing.T) {
	for _, preset := range []string{"Plain", "AccountSlots", "AccountNeedsMatch"} {
		p, _ := sim.Preset(preset)
		r := newRig(t, p)
		own := bmc.Credentials{Username: "own", Password: nextPassword}
		if err := as(t, r.bmc, username, password, nil).PutAccount(deadline(t), own, bmc.RoleAdministrator); err != nil {
			t.Fatal(err)
		}
		d := as(t, r.bmc, "own", nextPassword, nil)
		for range 2 {
			if err := d.DisableAccount(deadline(t), username); err != nil || r.bmc.Logs(username, password) {
				t.Errorf("%s: %v", preset, err)
			}
		}
		if err := d.DisableAccount(deadline(t), "nobody"); err != nil {
			t.Errorf("%s: nobody: %v", preset, err)
		}
		if err := d.DisableAccount(deadline(t), "own"); protocol.CodeOf(err) != protocol.CodeInvalid || !r.bmc.Logs("own", nextPassword) {
			t.Errorf("%s: itself: %v", preset, err)
		}
	}
}

// TestAccountLater: what is answered with success is not in force yet; the old one is.
func TestAccountLater(t *testing.T) {
	p, _ := sim.Preset("AccountLater")
	bubbleRig(t, p, redfish.Config{}, func(t *testing.T, r *rig) {
		if err := r.driver.(bmc.Accounts).PutAccount(deadline(t), bmc.Credentials{Username: username, Password: nextPassword}, bmc.RoleOperator); err != nil {
			t.Fatal(err)
		}
		to := target(r.bmc)
		to.Credentials.Password = nextPassword
		next := open(t, r.config, to).(bmc.Accounts)
		if err := next.Prove(deadline(t)); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Fatalf("%v", err)
		}
		time.Sleep(p.Account.ApplyAfter)
		synctest.Wait()
		if err := next.Prove(deadline(t)); err != nil {
			t.Error(err)
		}
	})
}
