package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestTakesTable(t *testing.T) {
	words := []string{"pxe", "http", "Cd", "Hdd"}
	doctable.Of(t, "discovery.go", "takesRule").HoldOne(t, [][]string{words, words, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return yesNo(takesRule(in[0], in[1], in[2] == "yes", in[3] == "yes"))
	})
}

// orders has the claim boot by a method.
func orders(y *play, first resource.FirstBoot) {
	y.s.Intent.Boot.BootPolicy.FirstBoot = first
	g := *y.s.Grant
	g.FirstBoot = first
	y.s.Grant = &g
}

// takesEither has the boot policy take either method of the network, and the grant with it.
func takesEither(y *play) {
	y.s.Intent.Boot.BootPolicy.Network = resource.NetworkAny
	g := *y.s.Grant
	g.Network = resource.NetworkAny
	y.s.Grant = &g
}

// With network any, firmware that follows an order by the other method is served the same boot, which is
// recorded as what it did; without it, it is refused, and the end says by what it asked (facts G6).
func TestNetworkAny(t *testing.T) {
	const off, on = protocol.PowerOff, protocol.PowerOn
	for _, row := range []struct {
		what  string
		first resource.FirstBoot
		class protocol.ClientClass
		arch  uint16
		seen  protocol.BootTarget
		code  resource.AttemptCode // without network any
	}{
		{"Lenovo XCC, PXE off and HTTP on", resource.FirstBootPxe, protocol.ClassHTTPClient, 16, protocol.TargetUefiHTTP, resource.AttemptAskedByHTTP},
		{"PXE under an order of HTTP", resource.FirstBootUefiHTTP, protocol.ClassPXEClient, 7, protocol.TargetPxe, resource.AttemptAskedByPXE},
		{"as ordered", resource.FirstBootPxe, protocol.ClassPXEClient, 7, protocol.TargetPxe, ""},
	} {
		for _, either := range []bool{true, false} {
			y := story(t, nil)
			orders(y, row.first)
			if either {
				takesEither(y)
			}
			y.read(off, 0, nil)
			y.read(off, 1*sec, y.answered(""))
			y.want(ActOn)
			y.read(on, 3*sec, y.answered(""))
			a := y.p.Record.Attempt
			answer := Serve(ServeSnapshot{Synced: true, Server: "n1", Attempt: a, Architecture: "amd64"}, protocol.BootClient{Class: row.class, Archs: []uint16{row.arch}})
			served := answer.Action == protocol.AnswerBoot
			if served != (either || row.code == "") || served && answer.Token != a.Token {
				t.Errorf("%s, either %t: %+v", row.what, either, answer)
			}
			y.s.Events = []Event{dhcpBy(row.class, 4*sec)}
			y.read(on, 4*sec, nil)
			mismatch := len(y.p.Measured.Mismatches)
			a = y.p.Record.Attempt
			if a.Stage.Observed != row.seen || a.Order.Target != row.first.Target() || a.Stage.State != resource.AttemptConsumed {
				t.Errorf("%s, either %t: %s, ordered %s, observed %s", row.what, either, a.Stage.State, a.Order.Target, a.Stage.Observed)
			}
			if (mismatch > 0) != (row.code != "") {
				t.Errorf("%s, either %t: %d mismatches are counted", row.what, either, mismatch)
			}
			if !served {
				y.condition(resource.CondMethodMismatch)
				y.read(on, 4*sec+fetchTimeout, nil)
				if code := y.p.Record.Attempt.Stage.Ending.Code; code != row.code {
					t.Errorf("%s, either %t: ended with %s, want %s", row.what, either, code, row.code)
				}
				continue
			}
			y.lacks(resource.CondMethodMismatch)
			fetches(y, 5*sec)
			if a := y.s.Record.Attempt; a.Stage.State != resource.AttemptFetched || a.Stage.Observed != row.seen {
				t.Errorf("%s, either %t: %s, observed %s", row.what, either, a.Stage.State, a.Stage.Observed)
			}
		}
	}
}

// A grant is for one method or for either, and fits no other policy.
func TestNetworkAnyGrant(t *testing.T) {
	for _, row := range []struct {
		grant, policy resource.Network
		fits          bool
	}{{"", "", true}, {resource.NetworkAny, resource.NetworkAny, true}, {"", resource.NetworkAny, false}, {resource.NetworkAny, "", false}} {
		y := story(t, nil)
		g := *y.s.Grant
		g.Network, y.s.Intent.Boot.BootPolicy.Network = row.grant, row.policy
		y.s.Grant = &g
		y.read(protocol.PowerOff, 0, nil)
		if row.fits {
			y.want(ActArm)
			continue
		}
		y.want(ActNone)
		y.condition(resource.CondGrantInvalid)
	}
}

// iPXE that firmware loaded by HTTP asks as PXE firmware does, and is no other boot.
func TestNetworkAnyIPXE(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Chain = &protocol.BootChain{Kind: protocol.ChainIPXE, First: "snponly.efi", Last: "initrd", Files: []protocol.ChainFile{{Name: "snponly.efi", Digest: "sha256:aa"}, {Name: "initrd", Digest: "sha256:bb"}}}
	})
	orders(y, resource.FirstBootPxe)
	takesEither(y)
	y.read(protocol.PowerOff, 0, nil)
	y.read(protocol.PowerOff, 1*sec, y.answered(""))
	y.s.Events = []Event{dhcpBy(protocol.ClassHTTPClient, 4*sec)}
	y.read(protocol.PowerOn, 4*sec, y.answered(""))
	a := y.p.Record.Attempt
	y.s.Events = []Event{{Kind: protocol.EvidenceFetched, Token: a.Token, File: "snponly.efi", At: at(5 * sec)}, dhcpBy(protocol.ClassIPXE, 6*sec)}
	y.read(protocol.PowerOn, 6*sec, nil)
	if a := y.p.Record.Attempt; a.Stage.Observed != protocol.TargetUefiHTTP {
		t.Errorf("observed %s", a.Stage.Observed)
	}
}

// Offers that have the ordered method switched off let a boot pass that may be by the other one.
func TestNetworkAnyOffers(t *testing.T) {
	for _, row := range []struct {
		either bool
		other  protocol.Offer
		arms   bool
	}{{true, protocol.OfferedYes, true}, {true, "", true}, {true, protocol.OfferedOff, false}, {true, protocol.OfferedNo, false}, {false, protocol.OfferedYes, false}} {
		y := story(t, func(s *Snapshot) {
			s.Record.Safety = &protocol.Safety{Offers: protocol.Offers{
				Pxe:      protocol.BootOffer{Is: protocol.OfferedOff, Setting: "NetworkStackSettings_IPv4PXESupport", Value: "Disabled", Want: "Enabled"},
				UefiHTTP: protocol.BootOffer{Is: row.other},
			}}
		})
		orders(y, resource.FirstBootPxe)
		if row.either {
			takesEither(y)
		}
		y.read(protocol.PowerOff, 0, nil)
		if row.arms {
			y.want(ActArm)
			continue
		}
		y.want(ActNone)
		y.condition(resource.CondUnsupportedBoot)
	}
}
