package decide

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What the BMC or firmware does not offer is said before anything is sent, uses no grant, and has the
// inventory read again: whoever mends it does so at the server.
func TestWhatIsNotOfferedIsNotTried(t *testing.T) {
	off := protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4HTTPSupport_00F5", Value: "Disabled", Want: "Enabled"}
	for name, row := range map[string]struct {
		offers protocol.Offers
		reach  resource.Reach
		want   string // of the condition; empty boots
	}{
		"nothing is known":           {protocol.Offers{}, "", ""},
		"it is offered":              {protocol.Offers{UefiHTTP: protocol.BootOffer{Is: protocol.OfferedYes}}, "", ""},
		"the target is in no list":   {protocol.Offers{UefiHTTP: protocol.BootOffer{Is: protocol.OfferedNo, Why: "it offers [None Pxe]"}}, "", "the BMC does not offer it: it offers [None Pxe]"},
		"firmware has HTTP off":      {protocol.Offers{UefiHTTP: off}, "", "firmware has it switched off: IPv4HTTPSupport_00F5 is Disabled, and has to be Enabled"},
		"no URL, and reach uri":      {protocol.Offers{BootURI: protocol.OfferedNo}, resource.ReachURI, "its BMC shows no HttpBootUri"},
		"no URL, and DHCP tells it":  {protocol.Offers{BootURI: protocol.OfferedNo}, resource.ReachSegment, ""},
		"only PXE is switched off":   {protocol.Offers{Pxe: off}, "", ""},
		"a URL can be given, by URI": {protocol.Offers{BootURI: protocol.OfferedYes}, resource.ReachURI, ""},
	} {
		y := story(t, func(s *Snapshot) {
			s.Record.Safety = &protocol.Safety{Offers: row.offers}
			s.Intent.Boot.Reach = row.reach
		})
		y.read(protocol.PowerOff, sec, nil)
		if row.want == "" {
			y.want(ActArm)
			if y.p.Survey {
				t.Errorf("%s: the inventory is read again", name)
			}
			continue
		}
		y.want(ActNone)
		y.condition(resource.CondUnsupportedBoot)
		if c := conditionOf(y.p.Record, resource.CondUnsupportedBoot); !strings.Contains(c, row.want) || !y.p.Survey {
			t.Errorf("%s: %q, read again %t", name, c, y.p.Survey)
		}
		if use := y.p.Record.Owners.Used[grantKey(y.s.Intent.Boot)]; use.Attempts != 0 || y.p.Record.Attempt != nil {
			t.Errorf("%s: used %+v", name, use)
		}
		y.s.Safety = &protocol.Safety{} // mended
		y.read(protocol.PowerOff, 2*sec, nil)
		y.want(ActArm)
	}
}

func conditionOf(r Record, code resource.ConditionCode) string {
	for _, c := range r.Conditions {
		if c.Code == code {
			return c.Message
		}
	}
	return ""
}

// An attempt that armed nothing uses nothing of its grant, however often it is tried.
func TestArmedNothingUsesNoGrant(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Intent.Boot.BootPolicy.FirstBoot, s.Grant.FirstBoot = resource.FirstBootPxe, resource.FirstBootPxe
	})
	key := grantKey(y.s.Intent.Boot)
	now := time.Duration(0)
	for range 2 * y.s.Grant.MaxAttempts {
		y.read(protocol.PowerOff, now, nil)
		y.want(ActArm)
		if use := y.p.Record.Owners.Used[key]; use.Attempts != 1 {
			t.Fatalf("while it is armed: %+v", use)
		}
		r := y.answered("")
		r.Outcome, r.Stored, r.Read = protocol.BootUnsupported, disarmed(), disarmed()
		y.bmc = disarmed()
		y.read(protocol.PowerOff, now+sec, r)
		if use := y.p.Record.Owners.Used[key]; use.Attempts != 0 {
			t.Fatalf("after it: %+v", use)
		}
		y.condition(resource.CondOverrideNotStored)
		now += attemptMaxPause + 2*sec
	}
	// One that was armed has used it, also where the BMC does not power the server on.
	y.read(protocol.PowerOff, now, nil)
	y.read(protocol.PowerOff, now+sec, y.answered(""))
	y.want(ActOn)
	y.read(protocol.PowerOff, now+sec+onTimeout, y.answered(protocol.CodeUnavailable))
	if use := y.p.Record.Owners.Used[key]; use.Attempts != 1 {
		t.Errorf("after an On: %+v", use)
	}
}
