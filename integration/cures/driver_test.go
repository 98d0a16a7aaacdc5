package cures

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/integration/memnet"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// driven is a driver in a bubble, and the BMC that it speaks with.
type driven struct {
	t   *testing.T
	bmc *sim.BMC
	// open makes a driver with an account.
	open func(c bmc.Credentials) bmc.Driver
}

func drive(t *testing.T, p sim.Personality, test func(d *driven)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("bmc")
		b, err := sim.New(sim.Config{
			Personality: p, Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Username: "admin", Password: "secret",
			Listen: func() (net.Listener, error) { return l, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		dialer, err := redfish.New(redfish.Config{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }})
		if err != nil {
			t.Fatal(err)
		}
		var opened []bmc.Driver
		defer func() {
			for _, d := range opened {
				_ = d.Close()
			}
		}()
		test(&driven{t, b, func(c bmc.Credentials) bmc.Driver {
			d, err := dialer.Open(bmc.Target{Server: server, Address: b.Address(), Fingerprint: b.Fingerprint(), LegacyTLS: p.Wire.OldTLS, Credentials: c})
			if err != nil {
				t.Fatal(err)
			}
			opened = append(opened, d)
			return d
		}})
	})
}

// credentials of a BMC as it is delivered, and those that are written to it.
var (
	first = bmc.Credentials{Username: "admin", Password: "secret"}
	next  = bmc.Credentials{Username: "rackboot", Password: "Next-Canary-0001-and-longer"}
	short = bmc.Credentials{Username: "rackboot", Password: "Next-Canary-0001"}
)

// driverRow is what the driver says of a fault, and what ends it.
type driverRow struct {
	words, hint string
	cure        func(d *driven) error // it does what the hint says, and tries again; nil is that trying again is all
	elsewhere   string                // why nothing at the BMC is tried
}

// put writes an account by another, and proves it.
func (d *driven) put(by, want bmc.Credentials) error {
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Minute)
	defer cancel()
	if err := d.open(by).(bmc.Accounts).PutAccount(ctx, want, bmc.RoleOperator); err != nil {
		return err
	}
	return d.open(want).(bmc.Accounts).Prove(ctx)
}

func shorter(d *driven) error { return d.put(first, short) }

// accountRows are of BMCs that do not take an account as others do.
var accountRows = map[string]driverRow{
	"AccountMax20":    {words: "takes passwords of 8 to 20 characters, and this one has 27", hint: "--length", cure: shorter},
	"AccountMax16":    {words: "takes passwords of 0 to 16 characters, and this one has 27", hint: "--length", cure: shorter},
	"AccountCuts16":   {words: "401 Base.1.13.NoValidSession: wrong credentials", hint: "give --length 16", cure: shorter},
	"AccountReadOnly": {words: "405 Base.1.13.OperationNotAllowed: accounts cannot be added", hint: "change the password where they are kept", cure: kept},
	"AccountMustChange": {words: "403 Base.1.13.PasswordChangeRequired: the password must be changed first", hint: "change it at the BMC's page and set the credentials again", cure: func(d *driven) error {
		own := bmc.Credentials{Username: "admin", Password: "another secret"}
		d.bmc.SetCredentials(own.Username, own.Password)
		return d.put(own, next)
	}},
}

// kept is an account that is changed where the BMC has its accounts from.
func kept(d *driven) error {
	d.bmc.SetCredentials(next.Username, next.Password)
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Minute)
	defer cancel()
	return d.open(next).(bmc.Accounts).Prove(ctx)
}

// TestAccountCures writes an account to each BMC that the simulator can be.
func TestAccountCures(t *testing.T) {
	tryDriver(t, accountRows, func(d *driven) error { return d.put(first, next) })
}

const noDrive = "a BMC without a virtual drive gets none by anything that is done to it; the claim says another first boot"

// mediaRows are of BMCs that do not take an image as others do.
var mediaRows = map[string]driverRow{
	"CiscoNoMode":   {words: "has no virtual media slot for CD images", hint: "use another boot method", elsewhere: noDrive},
	"FujitsuOEM":    {words: "has no virtual media slot for CD images", hint: "use another boot method", elsewhere: noDrive},
	"WrongTypes":    {words: "has no virtual media slot for CD images", hint: "use another boot method", elsewhere: noDrive},
	"AccountMax20":  {words: "has no virtual media slot for CD images", hint: "use another boot method", elsewhere: noDrive},
	"MediaNotReady": {words: "500 Base.1.13.InternalError: virtual media are not ready", hint: "try again later"},
}

// TestMediaCures inserts an image into the drive of each BMC that the simulator can be, and ejects it.
func TestMediaCures(t *testing.T) {
	tryDriver(t, mediaRows, func(d *driven) error {
		ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Minute)
		defer cancel()
		drives := d.open(first).(bmc.MediaDriver)
		m := bmc.Media{Boot: "http://10.7.0.1/b/token/boot.iso", Own: "http://10.7.0.1/b/"}
		if _, err := drives.InsertMedia(ctx, m); err != nil {
			return err
		}
		return drives.EjectMedia(ctx, m.Own)
	})
}

// tryDriver tries something with each preset. One that is read as others are (it has no row in rows, or one here) must
// succeed, or have a row.
func tryDriver(t *testing.T, all map[string]driverRow, try func(*driven) error) {
	t.Helper()
	for _, p := range sim.Presets() {
		r, has := all[p.Name]
		if _, unread := rows[p.Name]; !has && (raced || unread || strings.HasPrefix(p.Name, "Slow")) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			drive(t, p, func(d *driven) {
				err := try(d)
				switch {
				case !has && err != nil:
					t.Errorf("no row for %v (%s)", err, protocol.HintOf(err))
				case !has:
				default:
					r.holds(d, err, try)
				}
			})
		})
	}
}

func (r driverRow) holds(d *driven, err error, try func(*driven) error) {
	d.t.Helper()
	hints := protocol.HintOf(err)
	if c, ok := resource.LookupCondition(resource.CondRotationFailed); ok {
		hints += " " + c.Hint // beside which the error stands
	}
	if err == nil || !strings.Contains(err.Error(), r.words) || !strings.Contains(hints, r.hint) || r.hint == "" {
		d.t.Fatalf("%v (%s); want %q (%s)", err, hints, r.words, r.hint)
	}
	if r.elsewhere != "" {
		return
	}
	again := r.cure
	if again == nil {
		again = try
	}
	for range 3 { // a BMC says no more than once that it is not ready
		if err = again(d); err == nil {
			return
		}
		time.Sleep(time.Minute)
	}
	d.t.Errorf("after the cure: %v", err)
}
