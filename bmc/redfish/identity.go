package redfish

import (
	"strings"

	"rackboot/protocol"
)

// sameURI compares paths as BMCs write them: with and without a slash at the
// end, and in other cases (HPE).
func sameURI(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// identity reads what names the server.
func (v *survey) identity() {
	s := v.system
	v.out.SystemURI = s.ODataID
	v.out.Vendor, v.out.Model = s.manufacturer, s.model
	v.out.Serial = printable(textOf(s.f["SerialNumber"]))
	v.out.UUID = strings.ToLower(printable(textOf(s.f["UUID"])))
	v.out.UUIDProblem = uuidProblem(v.out.UUID)
	v.out.BootMode, v.out.BootOrder = s.boot.override.Mode, s.boot.order
	v.out.Architecture = architectureOf(textOf(fields(s.f["ProcessorSummary"])["Model"]))
	if v.out.Architecture == "" {
		v.each("Processors", s.f["Processors"], func(o *object) {
			if v.out.Architecture == "" {
				v.out.Architecture = architectureOf(o.text("InstructionSet") + " " + o.text("ProcessorArchitecture") + " " + o.text("Model"))
			}
		})
	}
}

// uuidProblem says why a UUID names no single server. Supermicro's ends in the
// BMC's MAC address and begins with zeroes: SMBIOS, and so the firmware's DHCP
// packets, may carry another.
func uuidProblem(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "")
	switch {
	case digits == "":
		return "there is none"
	case len(digits) != 32 || strings.Trim(digits, "0123456789abcdef") != "":
		return "it is no UUID"
	case strings.Trim(digits, "0") == "" || strings.Trim(digits, "f") == "":
		return "it is empty"
	case strings.HasPrefix(digits, strings.Repeat("0", 20)):
		return "it is made from a MAC address of the BMC"
	}
	return ""
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
func (v *survey) bootOptions() {
	var all []protocol.BootOption
	link := fields(v.system.f["Boot"])["BootOptions"]
	v.each("BootOptions", link, func(o *object) { all = append(all, bootOption(o)) })
	for _, ref := range v.out.BootOrder {
		for _, o := range all {
			if o.Reference == ref {
				v.out.BootOptions = append(v.out.BootOptions, o)
			}
		}
	}
	ordered := v.out.BootOptions
	for _, o := range all {
		listed := false
		for _, x := range ordered {
			listed = listed || x.Reference == o.Reference
		}
		if !listed {
			v.out.BootOptions = append(v.out.BootOptions, o)
		}
	}
}

// secureBoot reads the SecureBoot resource. What is not a boolean or a known
// word leaves it unknown.
func (v *survey) secureBoot() {
	o := v.get("SecureBoot", linkOf(v.system.f["SecureBoot"]))
	if o == nil {
		return
	}
	enable, current := string(o.f["SecureBootEnable"]), o.text("SecureBootCurrentBoot")
	if enable != "true" && enable != "false" {
		return
	}
	v.out.SecureBoot = &protocol.SecureBoot{Enabled: enable == "true", Current: current == "Enabled"}
}
