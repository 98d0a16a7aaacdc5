package redfish_test

import (
	"encoding/json"
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

// treesEnv names a folder of captured Redfish trees; without it they are
// looked for beside the module.
const (
	treesEnv     = "RACKBOOT_REDFISH_TREES"
	treesDefault = "../../../shared/redfish-trees"
)

// tree is what a captured tree must be read as; the values are written by hand.
type tree struct {
	vendor, model string
	system        string
	profile       string
	progress      string
	hasReset      bool // LastResetTime
	override      protocol.Override
	resets        []bmc.ResetType
	macs          []string
	uuidProblem   string
	safeStop      protocol.SafeStopClass
	option        string // on which safe stop rests
	shell         string
	detection     protocol.DetectionClass
	restore       string
	boot          string // the body that arms UefiHttp
	dhcp          string // what a URI from DHCP still needs
	media         string
	offers        string // whether PXE, HTTP, a CD drive and HttpBootUri are offered
}

func trees() map[string]tree {
	return map[string]tree{
		"dell-r750-idrac9": {
			vendor: "Dell Inc.", model: "PowerEdge R750", system: "/redfish/v1/Systems/System.Embedded.1", profile: "Dell iDRAC", hasReset: true,
			override: protocol.Override{Target: "None", Enabled: "Disabled", Mode: "UEFI"},
			resets:   []bmc.ResetType{"On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PushPowerButton", "Nmi", "PowerCycle"},
			macs: []string{
				"70:b5:e8:f0:52:dc", "70:b5:e8:f0:52:dd", "b8:3f:d2:90:97:c4", "b8:3f:d2:a4:1b:d2", "b8:3f:d2:a4:1b:d3", "e4:3d:1a:13:27:f0", "e4:3d:1a:13:27:f1",
			},
			safeStop: protocol.SafeStopNetworkFirst, option: "Boot0000", detection: protocol.DetectReset, restore: "AcPwrRcvry",
			boot:   `{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`,
			dhcp:   `{}`,
			media:  "/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1",
			offers: "off yes yes no",
		},
		"hpe-dl385-ilo5": {
			vendor: "HPE", model: "ProLiant DL385 Gen10 Plus v2", system: "/redfish/v1/Systems/1", profile: "HPE iLO",
			override: protocol.Override{Target: "None", Enabled: "Disabled", Mode: "UEFI"},
			resets:   []bmc.ResetType{"On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi", "PushPowerButton", "GracefulRestart"},
			macs: []string{
				"50:7c:6f:11:f2:a6", "50:7c:6f:11:f2:a7", "50:7c:6f:11:f2:a8", "50:7c:6f:11:f2:a9", "88:e9:a4:80:9d:a2", "88:e9:a4:87:42:c8", "b8:3f:d2:d7:f7:4a",
			},
			safeStop: protocol.SafeStopNetworkFirst, option: "Boot002C", detection: protocol.DetectPoll, restore: "AutoPowerOn",
			boot:   `{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"UefiHttp"}}`,
			dhcp:   `{}`,
			media:  "/redfish/v1/Managers/1/VirtualMedia/2",
			offers: "yes yes yes no",
		},
		"supermicro-821ge": {
			vendor: "Supermicro", model: "SYS-821GE-TNHR", system: "/redfish/v1/Systems/1", profile: "Supermicro", progress: "SystemHardwareInitializationComplete",
			override: protocol.Override{Target: "Pxe", Enabled: "Disabled", Mode: "UEFI"},
			resets:   []bmc.ResetType{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn", "PowerCycle"},
			macs: []string{
				"7c:c2:55:79:3f:8e", "7c:c2:55:79:3f:8f", "94:6d:ae:91:09:c2", "94:6d:ae:91:67:6a", "94:6d:ae:91:6a:9a", "94:6d:ae:91:73:8a",
				"94:6d:ae:91:75:9a", "94:6d:ae:91:75:ba", "94:6d:ae:91:dd:1a", "94:6d:ae:91:fb:22", "94:6d:ae:b2:b1:4e",
			},
			uuidProblem: "it is made from a MAC address of the BMC",
			safeStop:    protocol.SafeStopNetworkFirst, option: "Boot0019", shell: "Boot0018", detection: protocol.DetectPoll, restore: "RestoreonACPowerLoss_0035",
			boot:   `{"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI","BootSourceOverrideTarget":"UefiHttp"}}`,
			dhcp:   `{"IPv4HTTPSupport_00F5":"Enabled"}`,
			media:  "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1",
			offers: "yes off yes no",
		},
	}
}

// Real trees, served read-only. One that has no row must be read without an
// error all the same.
func TestCapturedTrees(t *testing.T) {
	root := os.Getenv(treesEnv)
	if root == "" {
		root = treesDefault
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Skipf("no captured Redfish trees at %s; %s names their folder", root, treesEnv)
	}
	rows := trees()
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		want, known := rows[e.Name()]
		delete(rows, e.Name())
		t.Run(e.Name(), func(t *testing.T) {
			target := serve(t, captured(t, filepath.Join(root, e.Name())))
			target.SystemURI = ""
			d := open(t, redfish.Config{}, target)
			o, err := d.Observe(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			caps, err := d.Capabilities(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.(bmc.Prober).Probe(deadline(t), "")
			if err != nil {
				t.Fatal(err)
			}
			wantCode(t, d.Reset(deadline(t), "NoSuchReset"), protocol.CodeUnsupported)
			if known {
				want.check(t, o, caps, p)
			}
		})
	}
	for name := range rows {
		t.Errorf("the tree %s is gone", name)
	}
}

func (w tree) check(t *testing.T, o protocol.Observation, caps bmc.Capabilities, p protocol.Probe) {
	t.Helper()
	if o.Power != protocol.PowerOn || o.Override != w.override || o.BootProgress != w.progress || (o.LastResetTime != "") != w.hasReset {
		t.Errorf("observation %+v", o)
	}
	if caps.Vendor != w.vendor || caps.Model != w.model || !slices.Equal(caps.Resets, w.resets) {
		t.Errorf("capabilities %+v", caps)
	}
	inv := p.Inventory
	macs := inv.MACs()
	slices.Sort(macs)
	if !slices.Equal(macs, w.macs) {
		t.Errorf("MACs %v", macs)
	}
	is := inv.Offers
	if got := strings.Join([]string{string(is.Pxe.Is), string(is.UefiHTTP.Is), string(is.Cd.Is), string(is.BootURI)}, " "); got != w.offers || is.ForceOff != protocol.OfferedYes {
		t.Errorf("offers %q, %+v, want %q", got, is, w.offers)
	}
	shell := protocol.OptionKind("")
	for _, b := range inv.BootOptions {
		if b.Kind == protocol.OptionShell {
			shell = protocol.OptionKind(b.Reference)
		}
		if b.Kind == protocol.OptionOther {
			t.Errorf("boot option %q is not classified", b.Name)
		}
	}
	for what, ok := range map[string]bool{
		"problems":  len(inv.Problems) == 0,
		"system":    inv.SystemURI == w.system && p.Profile == w.profile,
		"UUID":      inv.UUIDProblem == w.uuidProblem && len(inv.UUID) == 36,
		"processor": inv.Architecture == "x86_64",
		"safe stop": inv.SafeStop.Class == w.safeStop && inv.SafeStop.Option == w.option && string(shell) == w.shell && inv.SafeStop.Remedy != "",
		"detection": inv.Detection.Class == w.detection && inv.Detection.LastResetTime == w.hasReset,
		"restore":   inv.Restore.Policy == protocol.RestoreLastState && inv.Restore.Where == w.restore && !inv.Restore.Writable,
		"boot mode": inv.BootMode == "UEFI" && inv.SecureBoot != nil && !inv.SecureBoot.Enabled,
		"order":     len(inv.BootOrder) == len(inv.BootOptions) && inv.BootOptions[0].Reference == inv.BootOrder[0],
		"media":     p.Media.Supported && p.Media.Slot == w.media && p.Media.Method == "InsertMedia",
		"boot":      text(t, p.Boot[1].Writes[0].Body) == w.boot && p.Boot[1].Writes[0].URI == w.system,
		"HTTP":      p.HTTP[0].Way == protocol.HTTPByDHCP && text(t, p.HTTP[0].Write) == w.dhcp && p.HTTP[0].Ready == (w.dhcp == "{}"),
	} {
		if !ok {
			t.Errorf("%s: %s", what, text(t, p))
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// captured serves a tree. URIs differ in case from the folders where BMCs mix
// them (HPE).
func captured(t *testing.T, root string) http.HandlerFunc {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == "index.json" {
			files[strings.ToLower(strings.TrimPrefix(filepath.Dir(path), root))] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		b, err := os.ReadFile(files[strings.ToLower(strings.TrimSuffix(r.URL.Path, "/"))])
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(b)
	}
}
