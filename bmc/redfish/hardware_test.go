package redfish_test

import (
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// Who a server is, from trees that mislead: the preset names its source.
func TestHardwareAsItIs(t *testing.T) {
	for _, tt := range []struct {
		preset, system string
		macs           string // of the host, sorted
		internal       string
		boot, byHTTP   string // the addresses that firmware boots from
		arch           string
	}{
		{
			"GracePaths", "System_0", "02:00:00:00:00:17", "02:00:00:00:00:fe",
			"02:00:00:00:00:17", "02:00:00:00:00:17", "arm64",
		},
		{"BlueFieldCard", "Bluefield", "02:00:00:00:00:08", "00:1a:ca:ff:ff:01", "02:00:00:00:00:08", "02:00:00:00:00:08", "arm64"},
		{"NullUUID", "Bluefield", "02:00:00:00:00:08", "", "02:00:00:00:00:08", "02:00:00:00:00:08", ""}, // no loader names one
		{
			"DGXNames", "DGX", "02:00:00:00:00:06 02:00:00:00:00:26", "02:00:00:00:01:16 02:00:00:00:01:06",
			"02:00:00:00:00:26", "02:00:00:00:00:26", "",
		},
		{
			"DellDPUs", "System.Embedded.1", "02:00:00:00:00:02 02:00:00:00:05:01", "",
			"02:00:00:00:00:02", "02:00:00:00:05:01", "amd64",
		},
		{"GH200Baseboard", "System_0", "02:00:00:00:00:07", "", "02:00:00:00:00:07", "02:00:00:00:00:07", ""},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			t.Parallel()
			r := preset(t, tt.preset)
			inv := inventory(t, r)
			macs := inv.MACs()
			slices.Sort(macs)
			var internal []string
			for _, n := range inv.Interfaces {
				if n.Internal != "" {
					internal = append(internal, n.MAC)
				}
			}
			if got := strings.Join(macs, " "); got != tt.macs || strings.Join(internal, " ") != tt.internal || !strings.HasSuffix(inv.SystemURI, "/"+tt.system) {
				t.Errorf("%s has %s, internal %v; want %s, %s", inv.SystemURI, got, internal, tt.macs, tt.internal)
			}
			if got := inv.BootMACBy(protocol.OptionPXE); got != tt.boot || inv.BootMACBy(protocol.OptionHTTP) != tt.byHTTP {
				t.Errorf("boots by PXE from %s, by HTTP from %s", got, inv.BootMACBy(protocol.OptionHTTP))
			}
			if inv.HostArchitecture() != tt.arch {
				t.Errorf("architecture %q, want %q", inv.HostArchitecture(), tt.arch)
			}
		})
	}
}

// The baseboard of a GH200 is 503 for as long as it likes, and lists targets when it answers: the
// host is chosen at once in both cases, and stays.
func TestBaseboardHidesNoHost(t *testing.T) {
	for _, name := range []string{"GH200Baseboard", "GH200Settings"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := preset(t, name)
			for range 2 {
				if o, err := r.driver.Observe(deadline(t)); err != nil || o.Power != protocol.PowerOff {
					t.Fatalf("%+v, %v", o, err)
				}
			}
			uris, err := r.driver.(bmc.Lister).Systems(deadline(t))
			if err != nil || !slices.Equal(uris, []string{"/redfish/v1/Systems/System_0"}) {
				t.Errorf("%v, %v", uris, err)
			}
		})
	}
}

// An order of Pxe is stored while the PXE client is off; firmware answers it by HTTP, and a probe
// says so before.
func TestPxeOff(t *testing.T) {
	r := preset(t, "LenovoPxeOff")
	p, err := r.driver.(bmc.Prober).Probe(deadline(t), "")
	if err != nil || p.Boot[0].Target != protocol.TargetPxe || !p.Boot[0].Supported || p.Boot[0].Why == "" || !strings.Contains(p.Boot[0].Remedy, "NetworkStackSettings_IPv4PXESupport") {
		t.Errorf("%+v, %v", p.Boot, err)
	}
	if p.HTTP[4].Way != protocol.HTTPByStack || !p.HTTP[4].Ready {
		t.Errorf("%+v", p.HTTP)
	}
	r.arm(t, protocol.TargetPxe)
	r.reset(t, bmc.ResetOn)
	r.awaitMachine(t, hardware.Shell)
	if !slices.ContainsFunc(r.bmc.History(), func(h sim.Record) bool { return h.What == sim.RecordConsumed && h.Detail == "UefiHttp" }) {
		t.Errorf("%+v", r.bmc.History())
	}
}

// Supermicro offers UefiHttp while the client for it is off: the probe names what it needs.
func TestHTTPOff(t *testing.T) {
	p, err := preset(t, "SupermicroHTTPOff").driver.(bmc.Prober).Probe(deadline(t), "")
	if err != nil || p.HTTP[0].Ready || p.HTTP[0].Write["IPv4HTTPSupport_00F5"] != "Enabled" {
		t.Errorf("%+v, %v", p.HTTP, err)
	}
}

// sushy-tools: what is stored is named for what it is, the word None is no URI, and an override
// goes by the next step of the ladder.
func TestSushyTools(t *testing.T) {
	r := preset(t, "SushyTools")
	got, err := r.setBoot(t, once(protocol.TargetPxe))
	if err != nil || got.Outcome != bmc.BootCoercedContinuous {
		t.Errorf("Pxe: %+v, %v", got, err)
	}
	got, err = r.setBoot(t, once(protocol.TargetUefiHTTP))
	if got.Outcome.OK() || got.Outcome == bmc.BootCoercedContinuous {
		t.Errorf("UefiHttp, which was stored as Pxe: %+v, %v", got, err)
	}
	pending, err := r.driver.(bmc.URIBooter).ClearBootURI(deadline(t), func(string) bool { return true })
	if pending || err != nil {
		t.Errorf("the word None is taken for a URI: %v, %v", pending, err)
	}
	got, err = r.setBoot(t, protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled})
	if err == nil || bmc.FaultOf(err).Kind != protocol.FaultRefused || !strings.Contains(bmc.FaultOf(err).Text, "Missing the BootSourceOverrideTarget") {
		t.Errorf("Disabled: %+v, %v", got, err)
	}
	got, err = r.setBoot(t, once(protocol.TargetHdd))
	if err != nil || got.Stored.Target != protocol.TargetHdd {
		t.Errorf("Hdd: %+v, %v", got, err)
	}
}
