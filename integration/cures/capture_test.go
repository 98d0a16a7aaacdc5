package cures

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/capture"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/memnet"
	"rackboot/protocol/resource"
)

// recorded is what a BMC of a preset shows, as rackctl bmc probe --direct --record writes it.
func recorded(t *testing.T, preset string) (raw []byte) {
	t.Helper()
	p, ok := sim.Preset(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
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
		r := capture.New()
		dialer, err := redfish.New(redfish.Config{Seen: r.See, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }})
		if err != nil {
			t.Fatal(err)
		}
		d, err := dialer.Open(bmc.Target{Server: server, Address: b.Address(), Fingerprint: b.Fingerprint(), Credentials: bmc.Credentials{Username: "admin", Password: "secret"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		if _, err := d.(bmc.Prober).Probe(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.Write(&out); err != nil {
			t.Fatal(err)
		}
		raw = out.Bytes()
	})
	return raw
}

// TestCaptureIsReplayed: the agent says of a capture what it said of the BMC.
func TestCaptureIsReplayed(t *testing.T) {
	for preset, want := range map[string]string{
		"DellHTTPDevice":   "HttpDev1EnDis is Disabled, and has to be Enabled",
		"LenovoNoUefiHttp": "it does not offer the boot target UefiHttp",
		"IBMNoOverride":    "it shows no boot override",
	} {
		t.Run(preset, func(t *testing.T) {
			files, err := capture.Read(bytes.NewReader(recorded(t, preset)))
			if err != nil {
				t.Fatal(err)
			}
			shown, err := tree.Of(files)
			if err != nil {
				t.Fatal(err)
			}
			with(t, sim.Personality{Name: "capture", Tree: shown}, func(b *bench) {
				b.send()
				b.comes(2*time.Minute, func() bool { return false })
				b.claim(resource.FirstBootUefiHTTP, "claim-1")
				if !b.comes(10*time.Minute, func() bool {
					said, _ := b.said(string(resource.CondUnsupportedBoot))
					return strings.Contains(strings.Join(said, " "), want)
				}) {
					t.Errorf("UnsupportedBoot does not say %q: %s", want, b.told(b.names()))
				}
			})
		})
	}
}
