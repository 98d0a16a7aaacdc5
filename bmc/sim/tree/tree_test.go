package tree

import (
	"slices"
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
		tree, err := Load(tt.fs)
		if (err == nil) != tt.ok || err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.ok && TextAt(tree.Look("/Redfish/V1/"), "Id") != "x" {
			t.Errorf("%s: the root is not found by another spelling", tt.name)
		}
	}
}

// trees are the hand-made ones.
func trees() map[string]*Tree {
	return map[string]*Tree{
		"generic": Generic(), "baseboard": Baseboard(), "two hosts": TwoHosts(),
		"Dell": Dell(), "Dell settings": DellSettings(), "iDRAC10": IDRAC10(), "HPE": HPE(),
		"Supermicro": Supermicro(), "Supermicro URI": SupermicroURI(), "X10": X10(), "Lenovo": Lenovo(),
		"AMI": AMI(), "DGX": DGX(), "OpenBMC": OpenBMC(), "BlueField": BlueField(),
		"Cisco": Cisco(), "Fujitsu": Fujitsu(), "Nokia": Nokia(), "IBM": IBM(),
	}
}

// Every link of a hand-made tree leads somewhere, or to one of the resources
// that the BMC makes itself.
func TestLinksLeadSomewhere(t *testing.T) {
	for name, tree := range trees() {
		l := tree.Survey()
		if len(l.Systems) == 0 {
			t.Errorf("%s: no host", name)
			continue
		}
		made := []string{}
		for _, s := range l.Systems {
			made = append(made, Fold(s.BIOSSettings))
			if resets := tree.Resets(s); !slices.Contains(resets, ResetOn) || !slices.Contains(resets, ResetForceOff) {
				t.Errorf("%s: resets %v", name, resets)
			}
		}
		for uri, body := range tree.made() {
			for _, to := range everyLink(body) {
				if tree.Look(to) == nil && !slices.Contains(made, Fold(to)) && Fold(to) != uri {
					t.Errorf("%s: %s links to %s, which is not there", name, uri, to)
				}
			}
		}
	}
}

func everyLink(v any) (uris []string) {
	switch v := v.(type) {
	case Object:
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
