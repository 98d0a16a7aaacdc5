package redfish_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
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

// Real trees of three vendors, served read-only.
func TestCapturedTrees(t *testing.T) {
	root := os.Getenv(treesEnv)
	if root == "" {
		root = treesDefault
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no captured Redfish trees at %s; %s names their folder", root, treesEnv)
	}
	tests := []struct {
		tree     string
		vendor   string
		model    string
		progress string
		hasReset bool // LastResetTime
		override protocol.Override
		resets   []bmc.ResetType
	}{
		{
			"dell-r750-idrac9", "Dell Inc.", "PowerEdge R750", "", true,
			protocol.Override{Target: "None", Enabled: "Disabled", Mode: "UEFI"},
			[]bmc.ResetType{"On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PushPowerButton", "Nmi", "PowerCycle"},
		},
		{
			"hpe-dl385-ilo5", "HPE", "ProLiant DL385 Gen10 Plus v2", "", false,
			protocol.Override{Target: "None", Enabled: "Disabled", Mode: "UEFI"},
			[]bmc.ResetType{"On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi", "PushPowerButton", "GracefulRestart"},
		},
		{
			"supermicro-821ge", "Supermicro", "SYS-821GE-TNHR", "SystemHardwareInitializationComplete", false,
			protocol.Override{Target: "Pxe", Enabled: "Disabled", Mode: "UEFI"},
			[]bmc.ResetType{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn", "PowerCycle"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.tree, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(root, tt.tree)); err != nil {
				t.Fatal(err)
			}
			target := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				b, err := os.ReadFile(filepath.Join(root, tt.tree, filepath.Clean("/"+r.URL.Path), "index.json"))
				if err != nil {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				_, _ = w.Write(b)
			})
			target.SystemURI = ""
			d := open(t, redfish.Config{}, target)
			o, err := d.Observe(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			if o.Power != protocol.PowerOn || o.Override != tt.override || o.BootProgress != tt.progress || (o.LastResetTime != "") != tt.hasReset {
				t.Errorf("observation %+v", o)
			}
			caps, err := d.Capabilities(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			if caps.Vendor != tt.vendor || caps.Model != tt.model || !slices.Equal(caps.Resets, tt.resets) {
				t.Errorf("capabilities %+v", caps)
			}
			if !slices.Contains(caps.Targets, protocol.TargetUefiHTTP) {
				t.Errorf("targets %v lack UefiHttp", caps.Targets)
			}
			wantCode(t, d.Reset(deadline(t), "NoSuchReset"), protocol.CodeUnsupported)
		})
	}
}
