package redfish

import (
	"encoding/json"
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
)

// outcomeOf plans for a target and classifies a read-back that shows no change.
func outcomeOf(v bootView, target protocol.BootTarget) bmc.BootOutcome {
	want := protocol.Override{Target: target, Enabled: protocol.OverrideOnce}
	for _, way := range v.plan(want).ways {
		for _, w := range way {
			if _, err := json.Marshal(w.payload()); err != nil {
				panic(err)
			}
		}
	}
	return outcome(want, target, v.main.uri, v, v).Outcome
}

func view(t *testing.T, p, main, settings string) bootView {
	t.Helper()
	m := decodeBoot("/main", "", json.RawMessage(main))
	v := bootView{main: &m}
	if settings != "" {
		s := decodeBoot("/settings", "", json.RawMessage(settings))
		v.settings = &s
	}
	for _, row := range profiles() {
		if row.name == p {
			v.profile = row
			return v
		}
	}
	t.Fatalf("no profile %s", p)
	return v
}

// What would be written, as JSON: nothing more than that BMC needs.
func TestBootPlans(t *testing.T) {
	const (
		off  = `{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":"UEFI"}`
		once = `{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI"}`
	)
	arm := protocol.Override{Target: "UefiHttp", Enabled: "Once"}
	disarm := protocol.Override{Target: "None", Enabled: "Disabled"}
	tests := []struct {
		name, profile  string
		main, settings string
		want           protocol.Override
		bodies         string // of the first way
	}{
		{"Dell: the mode is UEFI already (metal-operator #81)", "Dell iDRAC", off, "", arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"HPE: never the mode (ansible #3509)", "HPE iLO", off, "", arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"HPE keeps the target (metal-operator #998)", "HPE iLO", once, "", disarm, `/main{"Boot":{"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideTarget":"Pxe"}}`},
		{"Supermicro: all, always (Redfishtool #106)", "Supermicro", off, "", arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"AMI: all to disarm, too (ansible #11542)", "AMI MegaRAC", once, "", disarm, `/main{"Boot":{"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":"UEFI","BootSourceOverrideTarget":"None"}}`},
		{"X10: no mode (metal-operator #982)", "Supermicro", `{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}`, "", arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"X10: its words", "Supermicro", `{"BootSourceOverrideTarget":"None","BootSourceOverrideTarget@Redfish.AllowableValues":["None","UefiHdd","CD/DVD"]}`, "", protocol.Override{Target: "Hdd", Enabled: "Once"}, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHdd"}}`},
		{"null at the system (DGX)", "AMI MegaRAC", `{"BootSourceOverrideTarget":null,"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideMode":null}`, off, arm, `/settings{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"order only in the settings (Dell 7.10)", "Dell iDRAC", off, `{"BootOrder":[],"BootSourceOverrideMode":"UEFI"}`, arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"a URI was left: null", "standard", `{"BootSourceOverrideTarget":"None","HttpBootUri":"http://192.0.2.1/x"}`, "", arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp","HttpBootUri":null}}`},
		{"a URI was left in the settings", "standard", off, `{"HttpBootUri":"http://192.0.2.1/x"}`, arm, `/settings{"Boot":{"HttpBootUri":null}}/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"disarm clears BootNext and the URI", "standard", `{"BootSourceOverrideTarget":"UefiBootNext","BootSourceOverrideEnabled":"Once","BootNext":"Boot0019","HttpBootUri":"http://192.0.2.1/x"}`, "", disarm, `/main{"Boot":{"BootNext":null,"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideTarget":"None","HttpBootUri":null}}`},
		{"half an override in the settings", "standard", off, `{"BootSourceOverrideTarget":"None"}`, arm, `/main{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`},
		{"not offered (Lenovo)", "Lenovo XCC", `{"BootSourceOverrideTarget":"None","BootSourceOverrideTarget@Redfish.AllowableValues":["None","Pxe"]}`, "", arm, `why: it does not offer the boot target UefiHttp; it offers [None Pxe]`},
		{"nothing to disarm", "HPE iLO", off, "", disarm, ``},
		{"it does not say: disarm", "standard", `{"BootSourceOverrideMode":"Legacy"}`, "", disarm, `/main{"Boot":{"BootSourceOverrideEnabled":"Disabled","BootSourceOverrideTarget":"None"}}`},
		{"only Once (Lenovo)", "Lenovo XCC", `{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled@Redfish.AllowableValues":["Once","Disabled"]}`, "", protocol.Override{Target: "Pxe", Enabled: "Continuous"}, `why: it allows [Once Disabled], not Continuous`},
		{"legacy and not writable (metal3-docs #581)", "HPE iLO", `{"BootSourceOverrideTarget":"None","BootSourceOverrideMode":"Legacy"}`, "", arm, `why: the server boots in legacy mode, which cannot be changed here`},
		{"no override at all (ibm-openbmc/bmcweb #939)", "standard", `{"AutomaticRetryConfig":"Disabled"}`, "", arm, `why: it shows no boot override`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := view(t, tt.profile, tt.main, tt.settings).plan(tt.want)
			got := ""
			if plan.why != "" {
				got = "why: " + plan.why
			}
			for _, w := range plan.wayAt(nil) {
				b, err := json.Marshal(w.payload())
				if err != nil {
					t.Fatal(err)
				}
				got += w.at.uri + string(b)
			}
			if got != tt.bodies {
				t.Errorf("got  %s\nwant %s", got, tt.bodies)
			}
			if plan.why != "" && plan.remedy == "" {
				t.Error("no remedy")
			}
		})
	}
}

// A disarm that did not do it is never taken for one.
func TestDisarmOutcomes(t *testing.T) {
	boot := func(enabled string) string {
		return `{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"` + enabled + `"}`
	}
	for _, tt := range []struct {
		main, settings string // read back
		want           bmc.BootOutcome
	}{
		{boot("Disabled"), boot("Disabled"), bmc.BootStored},
		{boot("Once"), boot("Disabled"), bmc.BootDropped},
		{boot("Continuous"), boot("Disabled"), bmc.BootReverted},
		{boot("Disabled"), boot("Once"), bmc.BootDropped},
		{boot("Disabled"), boot("Continuous"), bmc.BootReverted},
	} {
		before := view(t, "standard", boot("Once"), boot("Once"))
		got := outcome(protocol.Override{Target: "None", Enabled: "Disabled"}, "None", "/main", before, view(t, "standard", tt.main, tt.settings))
		if got.Outcome != tt.want || got.Stored.Armed() == (tt.want == bmc.BootStored) {
			t.Errorf("%s %s: %+v, want %s", tt.main, tt.settings, got, tt.want)
		}
	}
}

// An alias is one only if it leads to the network.
func TestAliasOfPXE(t *testing.T) {
	want := protocol.Override{Target: "Pxe", Enabled: "Once"}
	for path, ok := range map[string]bool{"": true, "PciRoot(0x0)/MAC(020000000001,0x1)": true, "HD(1,GPT)": false} {
		before := view(t, "Dell iDRAC", `{"BootSourceOverrideTarget":"None","BootSourceOverrideEnabled":"Disabled"}`, "")
		b, err := json.Marshal(map[string]string{keyTarget: "UefiTarget", keyEnabled: "Once", "UefiTargetBootSourceOverride": path})
		if err != nil {
			t.Fatal(err)
		}
		back := view(t, "Dell iDRAC", string(b), "")
		if got := outcome(want, "Pxe", "/main", before, back).Outcome == bmc.BootAliased; got != ok {
			t.Errorf("%q: aliased is %v", path, got)
		}
	}
}

func TestProfileOf(t *testing.T) {
	for _, tt := range []struct{ oem, made, want string }{
		{"Hpe", "", "HPE iLO"},
		{"Dell", "anybody", "Dell iDRAC"},
		{"Supermicro", "", "Supermicro"},
		{"ts_fujitsu", "", "Fujitsu iRMC"},
		{"", "Dell Inc.", "Dell iDRAC"},
		{"", "AMI", "AMI MegaRAC"},
		{"", "Miami Computers", "standard"},
		{"", "ASRockRack", "AMI MegaRAC"},
		{"Ami", "Supermicro", "AMI MegaRAC"},
		{"", "", "standard"},
		{"OpenBmc", "NVIDIA", "standard"},
	} {
		got := profileOf(map[string]json.RawMessage{tt.oem: json.RawMessage(`{}`)}, tt.made)
		if got.name != tt.want {
			t.Errorf("%q %q is %s, want %s", tt.oem, tt.made, got.name, tt.want)
		}
	}
	for _, p := range profiles() {
		if p.modeSource == "" || len(p.names) > 0 && p.namesSource == "" || len(p.reads) > 0 && p.readsSource == "" || p.keepTarget && p.keepTargetSource == "" {
			t.Errorf("%s has a field without a source", p.name)
		}
	}
}
