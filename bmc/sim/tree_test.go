package sim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"rackboot/protocol"
)

func TestLoadTree(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tests := []struct {
		name string
		fs   fstest.MapFS
		ok   bool
	}{
		{"root only", fstest.MapFS{"redfish/v1/index.json": file(`{"Id":"x"}`)}, true},
		{"no root", fstest.MapFS{"redfish/v1/Systems/index.json": file(`{}`)}, false},
		{"no object", fstest.MapFS{"redfish/v1/index.json": file(`{}`), "redfish/v1/Systems/index.json": file(`[]`)}, false},
		{"null", fstest.MapFS{"redfish/v1/index.json": file(`null`)}, false},
		{"text after", fstest.MapFS{"redfish/v1/index.json": file(`{} {}`)}, false},
		{"cut off", fstest.MapFS{"redfish/v1/index.json": file(`{"Id":`)}, false},
	}
	for _, tt := range tests {
		tree, err := LoadTree(tt.fs)
		if (err == nil) != tt.ok || err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.ok && textAt(tree.look("/Redfish/V1/"), "Id") != "x" {
			t.Errorf("%s: the root is not found by another spelling", tt.name)
		}
	}
	if _, err := New(Config{Machine: NewSimulated(SimulatedConfig{}), Personality: Personality{Tree: mustTree(t, fstest.MapFS{"redfish/v1/index.json": file(`{}`)})}}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a tree without a system: %v", err)
	}
}

func mustTree(t *testing.T, folder fstest.MapFS) *Tree {
	t.Helper()
	tree, err := LoadTree(folder)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// trees are the hand-made ones.
func trees() map[string]*Tree {
	return map[string]*Tree{
		"generic": GenericTree(), "baseboard": BaseboardTree(), "two hosts": TwoHostTree(),
		"Dell": DellTree(), "Dell settings": DellSettingsTree(), "iDRAC10": IDRAC10Tree(), "HPE": HPETree(),
		"Supermicro": SupermicroTree(), "Supermicro URI": SupermicroURITree(), "X10": X10Tree(), "Lenovo": LenovoTree(),
		"AMI": AMITree(), "DGX": DGXTree(), "OpenBMC": OpenBMCTree(), "BlueField": BlueFieldTree(),
		"Cisco": CiscoTree(), "Fujitsu": FujitsuTree(), "Nokia": NokiaTree(), "IBM": IBMTree(),
	}
}

// Every link of a hand-made tree leads somewhere, or to one of the resources
// that the BMC makes itself.
func TestLinksLeadSomewhere(t *testing.T) {
	for name, tree := range trees() {
		l := tree.survey()
		if len(l.systems) == 0 {
			t.Errorf("%s: no host", name)
			continue
		}
		made := []string{}
		for _, s := range l.systems {
			made = append(made, fold(s.biosSettings))
			if resets := tree.resets(s); !slices.Contains(resets, resetOn) || !slices.Contains(resets, resetForceOff) {
				t.Errorf("%s: resets %v", name, resets)
			}
		}
		for uri, body := range tree.made() {
			for _, to := range everyLink(body) {
				if tree.look(to) == nil && !slices.Contains(made, fold(to)) && fold(to) != uri {
					t.Errorf("%s: %s links to %s, which is not there", name, uri, to)
				}
			}
		}
	}
}

func everyLink(v any) (uris []string) {
	switch v := v.(type) {
	case object:
		for name, e := range v {
			if s, ok := e.(string); ok && name == "@odata.id" {
				uris = append(uris, s)
			}
			uris = append(uris, everyLink(e)...)
		}
	case []any:
		for _, e := range v {
			uris = append(uris, everyLink(e)...)
		}
	}
	return uris
}

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
			tree, err := LoadTree(os.DirFS(filepath.Join(root, tt.folder)))
			if err != nil {
				t.Fatal(err)
			}
			u := newUser(t, Personality{Tree: tree}, SimulatedConfig{Disk: installed()})
			h := u.bmc.Hosts()[0]
			if h.URI() != tt.system || !slices.Contains(h.place.media, tt.slot) {
				t.Fatalf("system %s, slots %v", h.URI(), h.place.media)
			}
			if s := u.do("GET", tt.system, ""); s.body["PowerState"] != "Off" {
				t.Errorf("the machine is off, and the BMC says %v", s.body["PowerState"])
			}
			u.want(u.do("PATCH", tt.system, `{"Boot":{"BootSourceOverrideTarget":"`+tt.target+`","BootSourceOverrideEnabled":"Once"}}`), 200, "")
			boot := u.do("GET", tt.system, "").body["Boot"].(map[string]any)
			if boot[bootTarget] != tt.target || boot[bootEnabled] != "Once" || boot[bootMode] != "UEFI" {
				t.Errorf("boot %v", boot)
			}
			u.want(u.do("POST", h.place.reset, `{"ResetType":"On"}`), 204, "")
			u.awaitPower(protocol.PowerOn)
			u.await("use of the override", func() bool { return !h.Override().Armed() })
			for _, uri := range []string{h.place.bios, h.place.biosSettings, tt.slot, u.bmc.layout.sessions, u.bmc.layout.subscriptions, strings.ToLower(tt.system) + "/"} {
				u.want(u.do("GET", uri, ""), 200, "")
			}
		})
	}
}
