package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A row is found by the name that boot policies use and by its target, and no two are the same.
func TestMethods(t *testing.T) {
	targets := map[protocol.BootTarget]bool{}
	for _, m := range methods {
		named, ok := methodNamed(m.first)
		if !ok || named != m || methodOf(m.target) != m || targets[m.target] {
			t.Errorf("%+v is found as %+v and %+v", m, named, methodOf(m.target))
		}
		if m.first.Target() != m.target {
			t.Errorf("%s is of target %s, the policy says %s", m.first, m.target, m.first.Target())
		}
		targets[m.target] = true
	}
	if _, ok := methodNamed(resource.FirstBoot(protocol.TargetCd)); ok {
		t.Error("the target Cd is no name of a method")
	}
	if m := methodOf(protocol.TargetHdd); m.medium || m.url {
		t.Errorf("the disk has %+v", m)
	}
	for class, target := range askedFor {
		if !targets[target] {
			t.Errorf("%s asks for %s, which is no method", class, target)
		}
	}
}

func TestMethodForTable(t *testing.T) {
	doctable.Of(t, "method.go", "methodFor").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), {"yes", "no", "off", ""}, doctable.YesNo(), doctable.YesNo(), {"yes", "no", ""}}, func(in []string) string {
		m := method{target: protocol.TargetUefiHTTP, url: true}
		offers := protocol.Offers{UefiHTTP: protocol.BootOffer{Is: protocol.Offer(in[2])}, BootURI: protocol.Offer(in[5])}
		if is(in[0]) {
			m, offers.Cd = method{target: protocol.TargetCd, medium: true}, offers.UefiHTTP
		}
		return string(methodFor(m, offers, is(in[1]), is(in[4]), is(in[3])))
	})
	if got := methodFor(method{target: protocol.TargetPxe}, protocol.Offers{BootURI: protocol.OfferedNo}, false, true, false); got != methodFits {
		t.Errorf("PXE needs no URL: %s", got)
	}
}

// Firmware that has a method switched off may boot by the other one of the network, unless that is not
// there either.
func TestInstead(t *testing.T) {
	for _, row := range []struct {
		of, other protocol.BootTarget
		want      map[protocol.Offer]bool
	}{
		{protocol.TargetPxe, protocol.TargetUefiHTTP, map[protocol.Offer]bool{protocol.OfferedYes: true, "": true}},
		{protocol.TargetUefiHTTP, protocol.TargetPxe, map[protocol.Offer]bool{protocol.OfferedYes: true, "": true}},
		{protocol.TargetCd, protocol.TargetPxe, nil},
	} {
		for _, is := range []protocol.Offer{protocol.OfferedYes, protocol.OfferedNo, protocol.OfferedOff, ""} {
			o, offer := protocol.Offers{}, protocol.BootOffer{Is: is}
			if row.other == protocol.TargetPxe {
				o.Pxe = offer
			} else {
				o.UefiHTTP = offer
			}
			if got := methodOf(row.of).instead(o); got != row.want[is] {
				t.Errorf("%s, with %s %q: %t", row.of, row.other, is, got)
			}
		}
	}
}
