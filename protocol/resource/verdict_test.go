package resource

import (
	"encoding/json"
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestReadinessTable(t *testing.T) {
	doctable.Of(t, "verdict.go", "readiness").HoldOne(t, [][]string{doctable.Words(Readinesses()...), doctable.YesNo()}, func(in []string) string {
		return string(readiness(Readiness(in[0]), in[1] == "yes"))
	})
	doctable.Of(t, "verdict.go", "methodReadiness").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(methodReadiness(in[0] == "yes", in[1] == "yes"))
	})
}

// good is a probe of a server that everything works at.
func good() protocol.Probe {
	yes := protocol.BootOffer{Is: protocol.OfferedYes}
	return protocol.Probe{
		Power: "On",
		Boot: []protocol.BootPlan{
			{Target: protocol.TargetPxe, Supported: true},
			{Target: protocol.TargetUefiHTTP, Supported: true, Why: "of its writes"},
			{Target: protocol.TargetHdd, Supported: true},
			{Target: protocol.TargetCd, Supported: true},
		},
		HTTP:  []protocol.HTTPBoot{{Way: protocol.HTTPByDHCP, Present: true, Ready: true}},
		Media: protocol.MediaSlot{Supported: true},
		Inventory: protocol.Inventory{
			Offers:   protocol.Offers{ForceOff: protocol.OfferedYes, Pxe: yes, UefiHTTP: yes, Cd: yes},
			SafeStop: protocol.SafeStop{Class: protocol.SafeStopShellFirst, Option: "Boot0001"},
		},
	}
}

func TestVerdict(t *testing.T) {
	const held = "holds provable; safe stop by the shell"
	for name, row := range map[string]struct {
		change func(*protocol.Probe)
		ready  Readiness
		words  string
	}{
		"all works": {func(*protocol.Probe) {}, Ready, "Pxe ready; UefiHttp ready; VirtualMedia ready; " + held},
		"HTTP is off (G7)": {func(p *protocol.Probe) {
			p.Inventory.Offers.UefiHTTP = protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4HTTPSupport_00F5", Value: "Disabled", Want: "Enabled"}
			p.HTTP = []protocol.HTTPBoot{
				{Way: protocol.HTTPByDHCP, Write: map[string]string{"IPv4HTTPSupport_00F5": "Enabled"}},
				{Way: protocol.HTTPByStack, Current: map[string]string{"IPv4HTTPSupport_00F5": "Disabled"}},
			}
		}, Ready, "Pxe ready; UefiHttp: set IPv4HTTPSupport_00F5 to Enabled (it is Disabled); VirtualMedia ready; " + held},
		"Dell's device is on, and takes no URL from DHCP": {func(p *protocol.Probe) {
			p.HTTP = []protocol.HTTPBoot{
				{Way: protocol.HTTPByDHCP, Write: map[string]string{"HttpDev1DhcpEnDis": "Enabled", "HttpDev1Uri": ""}},
				{Way: protocol.HTTPByDellDevice, Current: map[string]string{"HttpDev1DhcpEnDis": "Disabled", "HttpDev1Uri": "set"}},
			}
		}, Ready, "Pxe ready; UefiHttp: set HttpDev1DhcpEnDis to Enabled (it is Disabled), HttpDev1Uri to empty (it is set); VirtualMedia ready; " + held},
		"only a setting away": {func(p *protocol.Probe) {
			p.Boot = p.Boot[:1]
			p.Inventory.Offers.Pxe = protocol.BootOffer{Is: protocol.OfferedOff, Setting: "PxeDev1EnDis", Value: "Disabled", Want: "Enabled"}
		}, ReadyOnceSet, "Pxe: set PxeDev1EnDis to Enabled (it is Disabled); UefiHttp is not offered: it was not asked for; VirtualMedia is not offered: it was not asked for; " + held},
		"no drive": {func(p *protocol.Probe) { p.Media = protocol.MediaSlot{Why: "the BMC has none"} }, Ready, "Pxe ready; UefiHttp ready; VirtualMedia is not offered: the BMC has none; " + held},
		"nothing boots it": {func(p *protocol.Probe) {
			for i := range p.Boot {
				p.Boot[i].Supported, p.Boot[i].Why = false, "no Boot"
			}
		}, NotReady, "Pxe is not offered: no Boot; UefiHttp is not offered: no Boot; VirtualMedia is not offered: no Boot; " + held},
		"a refused method has no settings": {func(p *protocol.Probe) {
			p.Boot[1] = protocol.BootPlan{Target: protocol.TargetUefiHTTP}
			p.HTTP[0].Write = map[string]string{"A": "B"}
		}, Ready, "Pxe ready; UefiHttp is not offered; VirtualMedia ready; " + held},
		"no ForceOff": {func(p *protocol.Probe) { p.Inventory.Offers.ForceOff = protocol.OfferedNo }, NotReady, "Pxe ready; UefiHttp ready; VirtualMedia ready; holds cannot be forced: " + LimitNoForceOff.Words() + "; safe stop by the shell"},
		"no PowerState": {
			func(p *protocol.Probe) { p.Power = "Unknown" }, NotReady,
			"Pxe ready; UefiHttp ready; VirtualMedia ready; holds cannot be proved: the BMC says no usable PowerState; safe stop by the shell",
		},
		"Secure Boot": {func(p *protocol.Probe) {
			p.Inventory.SafeStop = protocol.SafeStop{Class: protocol.SafeStopNone, Reason: "Secure Boot is on"}
		}, Ready, "Pxe ready; UefiHttp ready; VirtualMedia ready; holds provable; safe stop none because Secure Boot is on"},
		"a shell that is not first": {func(p *protocol.Probe) {
			p.Inventory.SafeStop = protocol.SafeStop{Class: protocol.SafeStopShellAvailable, Reason: "it is last"}
		}, Ready, "Pxe ready; UefiHttp ready; VirtualMedia ready; holds provable; safe stop possible: it is last"},
	} {
		t.Run(name, func(t *testing.T) {
			p := good()
			row.change(&p)
			v := VerdictOf(p)
			if v.Ready != row.ready || v.Words() != row.words {
				t.Errorf("%s\n got %s\nwant %s", v.Ready, v.Words(), row.words)
			}
		})
	}
	if raw, err := json.Marshal(VerdictOf(good())); err != nil || !strings.Contains(string(raw), `"ready":"Ready","methods":[{"method":"Pxe","ready":"Ready"}`) {
		t.Errorf("%v: %s", err, raw)
	}
	if got := Worst([]Verdict{{Ready: Ready}, {Ready: NotReady}, {Ready: ReadyOnceSet}}); got != NotReady {
		t.Errorf("the worst of several is %s", got)
	}
}
