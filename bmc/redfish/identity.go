package redfish

import (
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
	out.BootMode, out.BootOrder = s.boot.override.Mode, s.boot.order
	out.Architecture = architectureOf(textOf(fields(s.f["ProcessorSummary"])["Model"]))
	if out.Architecture == "" {
		v.each("Processors", s.f["Processors"], func(o *object) {
			if out.Architecture == "" {
				out.Architecture = architectureOf(o.text("InstructionSet") + " " + o.text("ProcessorArchitecture") + " " + o.text("Model"))
			}
		})
	}
}

// architectureOf reads an architecture out of words about a processor, as
// Rackboot spells it.
func architectureOf(words string) string {
	w := strings.ToLower(words)
	for _, row := range []struct {
		parts []string
		arch  string
	}{
		{[]string{"arm", "aarch64", "ampere", "altra", "grace", "neoverse", "kunpeng", "bluefield"}, "aarch64"},
		{[]string{"x86", "xeon", "epyc", "intel", "amd"}, "x86_64"},
	} {
		for _, p := range row.parts {
			if strings.Contains(w, p) {
				return row.arch
			}
		}
	}
	return ""
}

// bootOptions reads and classifies the boot options, those in the boot order
// first and in its order.
func bootOptions(v *survey, out *protocol.Inventory) {
	var all []protocol.BootOption
	link := fields(v.system.f["Boot"])["BootOptions"]
	v.each("BootOptions", link, func(o *object) { all = append(all, bootOption(o)) })
	for _, ref := range out.BootOrder {
		for _, o := range all {
			if o.Reference == ref {
				out.BootOptions = append(out.BootOptions, o)
			}
		}
	}
	ordered := out.BootOptions
	for _, o := range all {
		listed := false
		for _, x := range ordered {
			listed = listed || x.Reference == o.Reference
		}
		if !listed {
			out.BootOptions = append(out.BootOptions, o)
		}
	}
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
