package redfish_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
)

func readFirmware(t *testing.T, d bmc.Driver, names ...string) protocol.Firmware {
	t.Helper()
	f, err := d.(bmc.FirmwareReader).Firmware(deadline(t), names)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// switched are the switches as they stand, in words.
func switched(f protocol.Firmware) (out []string) {
	for _, s := range f.Switches {
		out = append(out, string(s.Of)+" "+s.Name+"="+s.Value)
	}
	return out
}

// What the captured trees show of firmware settings; the values are written by hand. None of the trees
// has its attribute registry.
func TestCapturedFirmware(t *testing.T) {
	root := os.Getenv(treesEnv)
	if root == "" {
		root = treesDefault
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no captured Redfish trees at %s; %s names their folder", root, treesEnv)
	}
	for _, tt := range []struct {
		tree, family string
		order        int
		restore, off string
		switches     []string
		asked, is    string
	}{
		{
			"dell-r750-idrac9", "Dell iDRAC", 5, "AcPwrRcvry=Last", "Off",
			[]string{
				"http HttpDev1EnDis=Enabled", "http HttpDev2EnDis=Disabled", "http HttpDev3EnDis=Disabled", "http HttpDev4EnDis=Disabled",
				"pxe PxeDev1EnDis=Disabled", "pxe PxeDev2EnDis=Disabled", "pxe PxeDev3EnDis=Disabled", "pxe PxeDev4EnDis=Disabled",
			},
			"HttpDev1TlsMode", "HttpDev1TlsMode=None",
		},
		{"hpe-dl385-ilo5", "HPE iLO", 30, "AutoPowerOn=RestoreLastState", "AlwaysPowerOff", []string{"http HttpSupport=Auto", "shell UefiShellBootOrder=Disabled", "shell EmbeddedUefiShell=Enabled"}, "UefiShellBootOrder", "UefiShellBootOrder=Disabled"},
		{
			"supermicro-821ge", "Supermicro", 12, "RestoreonACPowerLoss_0035=Last State", "Stay Off",
			[]string{
				" NetworkStack_00F3=Enabled", "http IPv4HTTPSupport_00F5=Disabled", "http IPv6HTTPSupport_00F7=Disabled",
				"pxe IPv4PXESupport_00F4=Enabled", "pxe IPv6PXESupport_00F6=Disabled",
			},
			"HTTPBootPolicy", "HTTPBootPolicy_010D=Apply to each LAN",
		},
	} {
		t.Run(tt.tree, func(t *testing.T) {
			target := serve(t, captured(t, filepath.Join(root, tt.tree)))
			target.SystemURI = ""
			f := readFirmware(t, open(t, redfish.Config{}, target), tt.asked, "NoSuchAttribute")
			if f.Family != tt.family || !f.BIOS || len(f.BootOrder) != tt.order || len(f.BootOptions) < tt.order || f.SecureBoot == nil || f.SecureBoot.Enabled {
				t.Errorf("%s, BIOS %v, %d in the order, %d options, %+v", f.Family, f.BIOS, len(f.BootOrder), len(f.BootOptions), f.SecureBoot)
			}
			r := f.Restore
			if r.Name+"="+r.Value != tt.restore || r.Policy != protocol.RestoreLastState || r.Words[protocol.RestoreAlwaysOff] != tt.off || !r.Reset {
				t.Errorf("restore %+v", r)
			}
			if got := switched(f); !slices.Equal(got, tt.switches) {
				t.Errorf("switches %q", got)
			}
			if urls := map[string]string{"Dell iDRAC": "HttpDev1Uri", "HPE iLO": "UrlBootFile"}; f.HTTPURL.Name != urls[f.Family] {
				t.Errorf("URL %+v", f.HTTPURL)
			}
			if a := f.Attributes; len(a) != 1 || a[0].Asked != tt.asked || a[0].Name+"="+a[0].Value != tt.is || a[0].Waits != "" {
				t.Errorf("attributes %+v", a)
			}
		})
	}
}

// bios is a BMC with a registry, and with an attribute that waits for a reset.
func bios() map[string]string {
	const systems = "/redfish/v1/Systems"
	return map[string]string{
		"/redfish/v1":                       `{"Systems":{"@odata.id":"` + systems + `"},"Registries":{"@odata.id":"/redfish/v1/Registries"}}`,
		systems:                             `{"Members":[{"@odata.id":"` + systems + `/1"}]}`,
		systems + "/1":                      `{"@odata.id":"` + systems + `/1","PowerState":"Off","PowerRestorePolicy":"LastState","Boot":{"BootOrder":["Boot0001"]},"Bios":{"@odata.id":"` + systems + `/1/Bios"},"Actions":{"#ComputerSystem.Reset":{"target":"/r"}}}`,
		systems + "/1/Bios":                 `{"AttributeRegistry":"Reg.v1_0_0","Attributes":{"Quiet#0001":"Enabled","Speed_0002":1,"Speed_0003":2,"Fixed":"x","Pass":null,"Bool":true,"Speed_More":"no"},"@Redfish.Settings":{"SettingsObject":{"@odata.id":"` + systems + `/1/Bios/SD"}}}`,
		systems + "/1/Bios/SD":              `{"Attributes":{"Quiet#0001":"Disabled","Fixed":"x"}}`,
		"/redfish/v1/Registries":            `{"Members":[{"@odata.id":"/redfish/v1/Registries/Base"},{"@odata.id":"/redfish/v1/Registries/reg.v1_0_0/"}]}`,
		"/redfish/v1/Registries/reg.v1_0_0": `{"Location":[{"Language":"ja","Uri":"/redfish/v1/ja"},{"Language":"en-US","Uri":"/redfish/v1/en"}]}`,
		"/redfish/v1/en": `{"RegistryEntries":{"Attributes":[7,{"AttributeName":"Quiet#0001","Type":"Enumeration","Value":[{"ValueName":"Enabled"},{"ValueName":"Disabled"},3]},` +
			`{"AttributeName":"Fixed","ReadOnly":true},{"AttributeName":"Pass","Type":"Password","UpperBound":-1}]}}`,
	}
}

func serveMap(t *testing.T, files map[string]string) bmc.Target {
	t.Helper()
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[strings.TrimSuffix(r.URL.Path, "/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(body))
	})
	target.SystemURI = ""
	return target
}

// A registry says what may be written, and what waits for a reset is read beside what is in force.
func TestFirmwareRegistry(t *testing.T) {
	f := readFirmware(t, open(t, redfish.Config{}, serveMap(t, bios())), "Quiet", "Speed", "Fixed", "Pass", "Bool", "Nothing")
	got := map[string]protocol.FirmwareValue{}
	for _, a := range f.Attributes {
		got[a.Asked+"/"+a.Name] = a.FirmwareValue
	}
	want := map[string]protocol.FirmwareValue{
		"Quiet/Quiet#0001": {Name: "Quiet#0001", Value: "Enabled", Waits: "Disabled", Values: []string{"Enabled", "Disabled"}, Reset: true},
		"Speed/Speed_0002": {Name: "Speed_0002", Value: "1", Reset: true},
		"Speed/Speed_0003": {Name: "Speed_0003", Value: "2", Reset: true},
		"Fixed/Fixed":      {Name: "Fixed", Value: "x", ReadOnly: true, Reset: true},
		"Pass/Pass":        {Name: "Pass", Secret: true, Reset: true},
		"Bool/Bool":        {Name: "Bool", Value: "true", Reset: true},
	}
	if text(t, got) != text(t, want) {
		t.Errorf("%s\nwant\n%s", text(t, got), text(t, want))
	}
	if r := f.Restore; r.Name != "PowerRestorePolicy" || r.Reset || r.Words[protocol.RestoreAlwaysOn] != "AlwaysOn" {
		t.Errorf("restore %+v", r)
	}
	if len(f.Problems) > 0 {
		t.Errorf("problems %+v", f.Problems)
	}
}

// A registry that is broken or not there hides no value.
func TestFirmwareWithoutRegistry(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"is not listed":   {"/redfish/v1/Registries": `{"Members":[]}`},
		"has no file":     {"/redfish/v1/en": ""},
		"is no JSON":      {"/redfish/v1/en": "<html>"},
		"has odd entries": {"/redfish/v1/en": `{"RegistryEntries":{"Attributes":{"x":1}}}`},
		"has no list":     {"/redfish/v1/Registries": "[]"},
	} {
		files := bios()
		maps.Copy(files, change)
		f := readFirmware(t, open(t, redfish.Config{}, serveMap(t, files)), "Quiet")
		if a := f.Attributes; len(a) != 1 || a[0].Value != "Enabled" || a[0].Values != nil {
			t.Errorf("%s: %+v", name, a)
		}
		if name != "has odd entries" && (len(f.Problems) == 0 || f.Problems[0].Part != "AttributeRegistry") {
			t.Errorf("%s: problems %+v", name, f.Problems)
		}
	}
}

// Without BIOS attributes what else there is is read.
func TestFirmwareWithoutBIOS(t *testing.T) {
	files := bios()
	delete(files, "/redfish/v1/Systems/1/Bios")
	f := readFirmware(t, open(t, redfish.Config{}, serveMap(t, files)), "Quiet")
	if f.BIOS || len(f.Attributes) > 0 || f.Restore.Policy != protocol.RestoreLastState || len(f.Problems) == 0 {
		t.Errorf("%+v", f)
	}
}

// Of each vendor's simulated BMC the settings are read that the vendor has; of AMI the order is only in the
// settings for the next reset.
func TestFirmwareOfPresets(t *testing.T) {
	for _, tt := range []struct {
		preset, restore string
		order           bool
		switches        []string
	}{
		{"DellHTTPDevice", "AcPwrRcvry", true, []string{"http HttpDev1EnDis=Disabled"}},
		{"SupermicroHTTPOff", "RestoreonACPowerLoss_0035", true, []string{"http IPv4HTTPSupport_00F5=Disabled"}},
		{"LenovoNoContinuous", "", true, []string{"http NetworkStackSettings_IPv4HTTPSupport=Disabled"}},
		{"WrongAlias", "PowerRestorePolicy", true, nil},
		{"HPEModeReadOnly", "AutoPowerOn", true, []string{"shell UefiShellBootOrder=Disabled", "shell EmbeddedUefiShell=Enabled"}},
	} {
		f := readFirmware(t, preset(t, tt.preset).driver)
		if f.Restore.Name != tt.restore || len(f.BootOrder) > 0 != tt.order || !slices.Equal(switched(f), tt.switches) {
			t.Errorf("%s: restore %+v, order %v, switches %q", tt.preset, f.Restore, f.BootOrder, switched(f))
		}
	}
}

func TestFirmwareBounds(t *testing.T) {
	d := open(t, redfish.Config{}, serveMap(t, bios()))
	_, err := d.(bmc.FirmwareReader).Firmware(deadline(t), make([]string, protocol.MaxFirmwareAttributes+1))
	wantCode(t, err, protocol.CodeInvalid)
	gone := open(t, redfish.Config{}, serveMap(t, nil))
	if _, err := gone.(bmc.FirmwareReader).Firmware(deadline(t), nil); err == nil {
		t.Error("a BMC without a system has settings")
	}
}

// A reading says whether it is known how settings are written, and whether firmware can end POST in its menus.
func TestFirmwareCanBeWritten(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"DellOwnJob": true, "HPEModeReadOnly": true, "SupermicroHTTPOff": true, "LenovoNoContinuous": true, "AMINextReset": true, "AMINeedsMatch": true, "RestoresPower": false,
	} {
		f := readFirmware(t, preset(t, name).driver)
		if f.Writable != want || (f.Setup == protocol.OfferedYes) != want {
			t.Errorf("%s: writable %t, setup %q", name, f.Writable, f.Setup)
		}
	}
}
