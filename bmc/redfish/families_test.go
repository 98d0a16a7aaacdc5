package redfish_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var updateFamilies = flag.Bool("update", false, "rewrite docs/reference/families.md")

// familiesPage is the page that TestFamilies holds.
const familiesPage = "../../docs/reference/families.md"

// evidence is how it is known that a BMC does something.
type evidence string

const (
	evidenceCaptured   evidence = "C" // a captured tree says so
	evidenceDocumented evidence = "D" // a vendor's documentation, or a report of somebody
	evidenceAssumed    evidence = "A" // nobody has said so: it is as with most
)

// family is a kind of BMC: the preset that says what it offers, and the one that says how it acts on
// orders of power.
type family struct {
	name, preset string
	says         evidence
	power        string
	acts         evidence
	// tree is the captured one whose boot order and events are known (TestCapturedTrees); empty for none: those
	// of simulated BMCs are made up.
	tree string
}

func families() []family {
	return []family{
		{"Dell iDRAC 9", "DellModeJob", evidenceCaptured, "Plain", evidenceDocumented, "dell-r750-idrac9"},
		{"Dell iDRAC 10", "IDRAC10Settings", evidenceDocumented, "RefusesOnAfterOff", evidenceDocumented, ""},
		{"HPE iLO 5", "HPENoPowerCycle", evidenceCaptured, "HPEAlready", evidenceDocumented, "hpe-dl385-ilo5"},
		{"HPE iLO 6", "HPERefusesPxe", evidenceDocumented, "HPEAlready", evidenceDocumented, ""},
		{"Supermicro X13, H13", "SupermicroHTTPOff", evidenceCaptured, "SupermicroHTTPOff", evidenceAssumed, "supermicro-821ge"},
		{"Supermicro X10", "X10NoMode", evidenceDocumented, "X10NoMode", evidenceAssumed, ""},
		{"Lenovo XCC", "LenovoPxeOff", evidenceCaptured, "LenovoRestartHangs", evidenceDocumented, ""},
		{"AMI MegaRAC, Lenovo TSM", "AMINextReset", evidenceDocumented, "AMINextReset", evidenceAssumed, ""},
		{"ASRock Rack", "ASRockNeedsAll", evidenceDocumented, "ASRockNeedsAll", evidenceAssumed, ""},
		{"Gigabyte", "ETagGigabyte", evidenceDocumented, "ETagGigabyte", evidenceAssumed, ""},
		{"NVIDIA DGX H100", "DGXSettings", evidenceCaptured, "DGXFewResets", evidenceAssumed, ""},
		{"NVIDIA GB200", "GracePaths", evidenceCaptured, "GracePaths", evidenceAssumed, ""},
		{"NVIDIA GH200", "GH200Settings", evidenceCaptured, "GH200Settings", evidenceAssumed, ""},
		{"NVIDIA BlueField-3", "BlueFieldCard", evidenceCaptured, "BlueFieldCard", evidenceAssumed, ""},
		{"Fujitsu iRMC", "FujitsuOEM", evidenceDocumented, "FujitsuOEM", evidenceAssumed, ""},
		{"Cisco C220 M5", "CiscoNoMode", evidenceDocumented, "CiscoNoMode", evidenceAssumed, ""},
		{"Nokia", "NokiaSettings", evidenceDocumented, "NokiaSettings", evidenceAssumed, ""},
		{"IBM OpenBMC", "IBMNoOverride", evidenceDocumented, "IBMNoOverride", evidenceAssumed, ""},
		{"sushy-tools", "SushyTools", evidenceDocumented, "SushyTools", evidenceAssumed, ""},
		{"KubeVirt BMC", "KubevirtContinuous", evidenceDocumented, "KubevirtContinuous", evidenceAssumed, ""},
	}
}

// TestFamilies: what the driver does with each family's simulated BMC is what the page says. It is
// rewritten with -update.
func TestFamilies(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(familiesHead)
	for _, f := range families() {
		cells := append(f.boots(t), f.stops(t)...)
		safe := f.probe(t)
		mark := func(text string, by evidence) string { return text + " " + string(by) }
		row := []string{
			f.name, mark(cells[0], f.says), mark(cells[1], f.says), mark(cells[2], f.says), mark(cells[3], f.says), mark(cells[4], f.acts), mark(cells[5], f.acts),
			f.safety(safe.Inventory, func(protocol.Inventory) string { return string(protocol.SafeStopUnknown) }, func(w tree) string { return string(w.safeStop) }),
			f.safety(safe.Inventory, func(i protocol.Inventory) string { return string(i.Detection.Class) }, func(w tree) string { return string(w.detection) }),
			mark(settingsWord(safe), f.says),
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	if *updateFamilies {
		if err := os.WriteFile(filepath.FromSlash(familiesPage), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	page, err := os.ReadFile(filepath.FromSlash(familiesPage))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, b.Bytes()) {
		t.Errorf("%s is not what the driver does; go test ./bmc/redfish -run TestFamilies -update rewrites it:\n%s", familiesPage, b.String())
	}
}

func (f family) rig(t *testing.T, name string) *rig {
	t.Helper()
	p, ok := sim.Preset(name)
	if !ok {
		t.Fatalf("%s: there is no preset %s", f.name, name)
	}
	if _, known := trees()[f.tree]; p.Source == "" || f.tree != "" && !known {
		t.Errorf("%s: preset %s has no source, or there is no tree %q", f.name, name, f.tree)
	}
	return newRig(t, p)
}

// safety is a cell of what a captured tree says of it, or else of the simulated one.
func (f family) safety(of protocol.Inventory, simulated func(protocol.Inventory) string, known func(tree) string) string {
	if w, ok := trees()[f.tree]; ok {
		return known(w) + " " + string(evidenceCaptured)
	}
	return simulated(of) + " " + string(evidenceAssumed)
}

func (f family) probe(t *testing.T) protocol.Probe {
	t.Helper()
	p, err := f.rig(t, f.preset).driver.(bmc.Prober).Probe(deadline(t), "")
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return p
}

// boots are the cells of the probe and of the methods: each method that is ready is armed.
func (f family) boots(t *testing.T) []string {
	t.Helper()
	p := f.probe(t)
	out := []string{p.Profile}
	for _, m := range resource.VerdictOf(p).Methods {
		switch m.Ready {
		case resource.NotReady:
			out = append(out, "no")
			continue
		case resource.ReadyOnceSet:
			out = append(out, "set "+m.Settings[0].Name)
			continue
		case resource.Ready:
		}
		result, err := f.rig(t, f.preset).setBoot(t, once(m.Method.Target()))
		switch {
		case err != nil || !result.Outcome.OK():
			out = append(out, "no: "+string(result.Outcome))
		case result.Outcome == bmc.BootStored:
			out = append(out, "yes")
		default:
			out = append(out, "yes, "+string(result.Outcome))
		}
	}
	return out
}

// stops are the cells of hold and receipt: a server that runs is forced off, and Off is read twice.
func (f family) stops(t *testing.T) []string {
	t.Helper()
	r := f.rig(t, f.power)
	p, err := r.driver.(bmc.Prober).Probe(deadline(t), "")
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	if hold := resource.VerdictOf(p).Hold; !hold.Provable {
		return []string{"limit " + string(hold.Limit), "no"}
	}
	r.reset(t, bmc.ResetOn)
	r.await(t, protocol.PowerOn)
	r.reset(t, bmc.ResetForceOff)
	r.await(t, protocol.PowerOff)
	again, err := r.driver.Observe(deadline(t))
	if err != nil || again.Power != protocol.PowerOff {
		return []string{"yes", "no"}
	}
	return []string{"yes", "yes"}
}

// settingsWord says whether the BMC shows the BIOS settings that the verdict names.
func settingsWord(p protocol.Probe) string {
	for _, h := range p.HTTP {
		switch h.Way {
		case protocol.HTTPByDellDevice, protocol.HTTPByHPEURL, protocol.HTTPByStack:
			if h.Present {
				return "shown"
			}
		case protocol.HTTPByDHCP, protocol.HTTPByBootURI:
		}
	}
	return "none"
}

const familiesHead = `# Families of BMCs

What Rackboot can do with which BMC. Each cell is what the driver does with the simulated BMC of that family, and the letter behind it is how it is
known that real ones are so:

- **C**: a tree captured from such a machine says so. That is of what it offers: no tree shows how a machine acts.
- **D**: a vendor's documentation or somebody's report says so; the simulator's preset names it.
- **A**: assumed, as with most.

None of it was proved on your machine, whose settings and firmware count: ` + "`rackctl bmc probe BMC`" + ` says what it offers.

- **Pxe, UefiHttp, VirtualMedia**: yes, where the override is stored, and how if not at once as it was written (PendingReset: shown after the next reset;
  Aliased: shown as another word). "set" names the BIOS setting that has it off in that tree. "no": not offered; or not stored as it was
  written, and then the outcome is named (CoercedContinuous: it would stay after the boot).
- **hold**: a server that runs is forced off, and read Off. **receipt**: Off is read again, as the settle window wants.
- **safe stop, detection**: the [classes](../guide/outage.md#how-a-server-is-stopped-that-nobody-ordered-on) of a server as it was captured.
  The boot orders of simulated BMCs are made up: where there is no tree, safe stop is Unknown. Yours may be better.
- **settings**: whether the BMC shows the BIOS settings of network boots. Rackboot reads them, and writes them [when it is told](../guide/firmware.md#writing).

| family | probe | Pxe | UefiHttp | VirtualMedia | hold | receipt | safe stop | detection | settings |
|---|---|---|---|---|---|---|---|---|---|
`
