package sim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// Captured trees of three vendors, with the live parts over them.
func TestCapturedTrees(t *testing.T) {
	root := os.Getenv("RACKBOOT_REDFISH_TREES")
	if root == "" {
		root = "../../../shared/redfish-trees"
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no captured Redfish trees at %s; RACKBOOT_REDFISH_TREES names their folder", root)
	}
	tests := []struct{ folder, system, target, slot string }{
		{"dell-r750-idrac9", "/redfish/v1/Systems/System.Embedded.1", "UefiHttp", "/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1"},
		{"hpe-dl385-ilo5", "/redfish/v1/Systems/1", "UefiHttp", "/redfish/v1/Managers/1/VirtualMedia/1"},
		{"supermicro-821ge", "/redfish/v1/Systems/1", "UefiHttp", "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1"},
	}
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			captured, err := tree.Load(os.DirFS(filepath.Join(root, tt.folder)))
			if err != nil {
				t.Fatal(err)
			}
			u := newUser(t, Personality{Tree: captured}, hardware.SimulatedConfig{Disk: installed()})
			h := u.bmc.Hosts()[0]
			if h.URI() != tt.system || !slices.Contains(h.place.Media, tt.slot) {
				t.Fatalf("system %s, slots %v", h.URI(), h.place.Media)
			}
			if s := u.do("GET", tt.system, ""); s.body["PowerState"] != "Off" {
				t.Errorf("the machine is off, and the BMC says %v", s.body["PowerState"])
			}
			u.want(u.do("PATCH", tt.system, `{"Boot":{"BootSourceOverrideTarget":"`+tt.target+`","BootSourceOverrideEnabled":"Once"}}`), 200, "")
			boot := u.do("GET", tt.system, "").body["Boot"].(map[string]any)
			if boot[tree.BootTarget] != tt.target || boot[tree.BootEnabled] != "Once" || boot[tree.BootMode] != "UEFI" {
				t.Errorf("boot %v", boot)
			}
			u.want(u.do("POST", h.place.Reset, `{"ResetType":"On"}`), 204, "")
			u.awaitPower(protocol.PowerOn)
			u.await("use of the override", func() bool { return !h.Override().Armed() })
			for _, uri := range []string{h.place.BIOS, h.place.BIOSSettings, tt.slot, u.bmc.sessions.uri, u.bmc.events.layout.Subscriptions, strings.ToLower(tt.system) + "/"} {
				u.want(u.do("GET", uri, ""), 200, "")
			}
		})
	}
}

// A tree without a system has no host for a machine.
func TestTreeWithoutASystem(t *testing.T) {
	bare, err := tree.Load(fstest.MapFS{"redfish/v1/index.json": &fstest.MapFile{Data: []byte(`{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Personality: Personality{Tree: bare}}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}
