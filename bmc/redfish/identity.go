package redfish

import (
	"slices"
	"strings"

	"rackboot/protocol"
)

// identity reads what names the server.
func identity(v *survey, out *protocol.Inventory) {
	s := v.system
	out.SystemURI = s.ODataID
	out.Vendor, out.Model = s.manufacturer, s.model
	out.Serial = printable(textOf(s.f["SerialNumber"]))
	out.UUID = strings.ToLower(printable(textOf(s.f["UUID"])))
	out.UUIDProblem = uuidProblem(out.UUID)
	out.BootMode = printable(s.boot.override.Mode)
	for _, ref := range s.boot.order { // spelled as the references of the boot options are
		out.BootOrder = append(out.BootOrder, printable(ref))
	}
	out.Architecture = processorArch(v)
}

// processorArch is the architecture of the host's processors, as Rackboot spells it; empty if
// the BMC does not say it: nothing is assumed. Accelerators are listed beside the processors,
// and have none.
func processorArch(v *survey) (arch string) {
	summary := fields(v.system.f["ProcessorSummary"])
	if arch = architectureOf(textOf(summary["InstructionSet"]), textOf(summary["Model"])); arch != "" {
		return arch
	}
	v.each("Processors", v.system.f["Processors"], func(o *object) {
		if kind := o.text("ProcessorType"); arch == "" && (kind == "" || kind == "CPU") {
			arch = architectureOf(o.text("InstructionSet"), o.text("ProcessorArchitecture")+" "+o.text("Model"))
		}
	})
	return arch
}

// architectureOf reads an architecture out of an InstructionSet (Redfish Processor schema),
// else out of words about a processor.
func architectureOf(set, words string) string {
	switch set {
	case "x86-64":
		return archX86
	case "ARM-A64":
		return archARM
	case "ARM-A32", "IA-64", "MIPS32", "MIPS64", "PowerISA":
		return ""
	}
	w := strings.ToLower(set + " " + words)
	for _, row := range []struct {
		parts []string
		arch  string
	}{
		{[]string{"arm", "aarch64", "ampere", "altra", "grace", "neoverse", "kunpeng", "bluefield"}, archARM},
		{[]string{"x86", "xeon", "epyc", "intel", "amd"}, archX86},
	} {
		for _, p := range row.parts {
			if strings.Contains(w, p) {
				return row.arch
			}
		}
	}
	return ""
}

// The architectures that a BMC tells apart.
const (
	archX86 = "x86_64"
	archARM = "aarch64"
)

// bootOptions reads and classifies the boot options, those in the boot order
// first and in its order.
func bootOptions(v *survey) (sorted []option) {
	var all []option
	link := fields(v.system.f["Boot"])["BootOptions"]
	v.each("BootOptions", link, func(o *object) { all = append(all, readOption(o)) })
	for _, ref := range v.system.boot.order {
		for _, o := range all {
			if o.Reference == ref {
				sorted = append(sorted, o)
			}
		}
	}
	ordered := sorted
	for _, o := range all {
		if !slices.ContainsFunc(ordered, func(x option) bool { return x.Reference == o.Reference }) {
			sorted = append(sorted, o)
		}
	}
	return sorted
}

// optionsArch is the architecture of the loaders that the boot options name: bootaa64.efi.
// Loaders of two kinds say nothing: a disk may have been another machine's.
func optionsArch(options []option) (arch string) {
	for _, o := range options {
		switch {
		case o.loader == "" || o.loader == arch:
		case arch != "":
			return ""
		default:
			arch = o.loader
		}
	}
	return arch
}

// secureBoot reads the SecureBoot resource. What is not a boolean or a known
// word leaves it unknown.
func secureBoot(v *survey) *protocol.SecureBoot {
	o := v.get("SecureBoot", linkOf(v.system.f["SecureBoot"]))
	if o == nil {
		return nil
	}
	enable, current := string(o.f["SecureBootEnable"]), o.text("SecureBootCurrentBoot")
	if enable != "true" && enable != "false" {
		return nil
	}
	return &protocol.SecureBoot{Enabled: enable == "true", Current: current == "Enabled"}
}
