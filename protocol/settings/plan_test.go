package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestHindranceTable compares the table above hindrance with it.
func TestHindranceTable(t *testing.T) {
	table := doctable.Of(t, "plan.go", "hindrance")
	word := map[bool]string{true: "yes", false: "no"}
	used := map[int]bool{}
	for i := range 8 {
		secret, readOnly, allowed := i&4 != 0, i&2 != 0, i&1 != 0
		want, row := table.Answer(word[secret], word[readOnly], word[allowed])
		if row < 0 {
			t.Fatalf("no row for %v %v %v", secret, readOnly, allowed)
		}
		used[row] = true
		got := string(hindrance(secret, readOnly, allowed))
		if got == "" {
			got = "none"
		}
		if got != want[0] {
			t.Errorf("secret %v, read-only %v, allowed %v: %s, the table says %s", secret, readOnly, allowed, got, want[0])
		}
	}
	if len(used) != len(table.Rows) {
		t.Errorf("%d of %d rows are of use", len(used), len(table.Rows))
	}
}

// value is a BIOS attribute.
func value(name, now string, values ...string) protocol.FirmwareValue {
	return protocol.FirmwareValue{Name: name, Value: now, Reset: true, Values: values}
}

// supermicro is about what a captured tree of an SYS-821GE-TNHR shows.
func supermicro() protocol.Firmware {
	sw := func(of protocol.OptionKind, name, now string) protocol.FirmwareSwitch {
		return protocol.FirmwareSwitch{FirmwareValue: value(name, now), Of: of, On: "Enabled", Off: "Disabled"}
	}
	return protocol.Firmware{
		BootOptions: []protocol.BootOption{
			{Reference: "Boot0002", Kind: protocol.OptionDisk, Path: "PciRoot(0x0)/Pci(0x1,0x0)/NVMe(0x1,00)"},
			{Reference: "Boot0003", Kind: protocol.OptionPXE},
			{Reference: "Boot0001", Kind: protocol.OptionShell},
			{Reference: "Boot0004", Kind: protocol.OptionHTTP, Disabled: true},
			{Reference: "Boot0005", Kind: protocol.OptionCD},
		},
		SecureBoot: &protocol.SecureBoot{},
		FirmwareSettings: protocol.FirmwareSettings{
			BootOrder: []string{"Boot0002", "Boot0003", "Boot0001"}, BIOS: true, Restore: protocol.FirmwareRestore{
				FirmwareValue: value("RestoreonACPowerLoss_0035", "Last State"), Policy: protocol.RestoreLastState,
				Words: map[protocol.RestorePolicy]string{protocol.RestoreLastState: "Last State", protocol.RestoreAlwaysOff: "Stay Off"},
			},
			Switches: []protocol.FirmwareSwitch{
				sw("", "NetworkStack_00F3", "Enabled"), sw(protocol.OptionHTTP, "IPv4HTTPSupport_00F5", "Disabled"), sw(protocol.OptionHTTP, "IPv6HTTPSupport_00F7", "Disabled"),
				sw(protocol.OptionPXE, "IPv4PXESupport_00F4", "Enabled"), sw(protocol.OptionPXE, "IPv6PXESupport_00F6", "Enabled"),
			},
			Attributes: []protocol.FirmwareAttribute{
				{Asked: "QuietBoot", FirmwareValue: value("QuietBoot_0001", "Enabled", "Enabled", "Disabled")},
				{Asked: "Speed", FirmwareValue: value("Speed_0002", "1")},
				{Asked: "Speed", FirmwareValue: value("Speed_0003", "2")},
				{Asked: "Fixed", FirmwareValue: protocol.FirmwareValue{Name: "Fixed", Value: "x", ReadOnly: true}},
				{Asked: "AdminPassword", FirmwareValue: protocol.FirmwareValue{Name: "AdminPassword", Secret: true}},
				{Asked: "IPv4HTTPSupport", FirmwareValue: value("IPv4HTTPSupport_00F5", "Disabled")},
				{Asked: "Waiting", FirmwareValue: protocol.FirmwareValue{Name: "Waiting", Value: "a", Waits: "b", Reset: true}},
			},
		},
	}
}

// dell is what an iDRAC shows whose HTTP device is off, and hpe what an iLO shows.
func dell() protocol.Firmware {
	on := value("HttpDev1EnDis", "Disabled")
	return protocol.Firmware{FirmwareSettings: protocol.FirmwareSettings{
		BIOS: true, Switches: []protocol.FirmwareSwitch{{FirmwareValue: on, Of: protocol.OptionHTTP, On: "Enabled", Off: "Disabled"}},
		HTTPURL: protocol.FirmwareURL{FirmwareValue: value("HttpDev1Uri", ""), Needs: []protocol.FirmwareNeed{
			{FirmwareValue: on, HTTP: "Enabled", HTTPS: "Enabled", Off: "Disabled"},
			{FirmwareValue: value("HttpDev1TlsMode", "OneWay"), HTTP: "None", HTTPS: "OneWay"},
		}},
		Attributes: []protocol.FirmwareAttribute{{Asked: "HttpDev1Uri", FirmwareValue: value("HttpDev1Uri", "")}},
	}}
}

func hpe() protocol.Firmware {
	return protocol.Firmware{FirmwareSettings: protocol.FirmwareSettings{
		BIOS: true, HTTPURL: protocol.FirmwareURL{FirmwareValue: value("UrlBootFile", "http://h/old"), Needs: []protocol.FirmwareNeed{
			{FirmwareValue: value("PreBootNetwork", "Slot1NicPort1"), HTTP: "Auto", HTTPS: "Auto", Off: "Disabled"},
		}},
	}}
}

// said is a plan in words.
func said(changes []protocol.FirmwareChange) string {
	var out []string
	for _, c := range changes {
		s := c.Setting + ":" + c.Where + ":" + c.Today + ">" + c.Wanted
		if c.Waits != "" {
			s += "(" + c.Waits + ")"
		}
		if c.Hindrance != "" {
			s += "!" + string(c.Hindrance)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

type spec = resource.FirmwareProfileSpec

func attribute(name, wanted string) spec { return spec{Attributes: map[string]string{name: wanted}} }

func TestPlan(t *testing.T) {
	all, bare := supermicro(), protocol.Firmware{}
	readable := protocol.Firmware{FirmwareSettings: protocol.FirmwareSettings{BIOS: true}}
	for _, tt := range []struct {
		name string
		want spec
		of   protocol.Firmware
		plan string
	}{
		{"nothing is wanted", spec{}, all, ""},
		{"all is so", spec{PXE: "On", HTTP: "Off", SecureBoot: "Off", PowerRestore: protocol.RestoreLastState, BootOrder: []resource.BootClass{"disk"}}, all, ""},
		{"HTTP on, the stack is", spec{HTTP: "On"}, all, "http:IPv4HTTPSupport_00F5:Disabled>Enabled"},
		{"PXE off is each of its switches, and not the stack", spec{PXE: "Off"}, all, "pxe:IPv4PXESupport_00F4:Enabled>Disabled; pxe:IPv6PXESupport_00F6:Enabled>Disabled"},
		{"HTTP on by IPv6, as IPv4 is wanted off", spec{HTTP: "On", Attributes: map[string]string{"IPv4HTTPSupport": "Disabled"}}, all, "http:IPv6HTTPSupport_00F7:Disabled>Enabled"},
		{"HTTP off, and its switch on", spec{HTTP: "Off", Attributes: map[string]string{"IPv4HTTPSupport": "Enabled"}}, all, "http:IPv4HTTPSupport_00F5:Disabled>Disabled!contradicts; attributes.IPv4HTTPSupport:IPv4HTTPSupport_00F5:Disabled>Enabled"},
		{"HTTP where nothing is known of it", spec{HTTP: "On"}, readable, "http::>On!not-shown"},
		{"HTTP where no attributes can be read", spec{HTTP: "On"}, bare, "http::>On!unread"},
		{"no URL, where none is known", spec{HTTPURL: new("")}, all, "httpURL::>!not-shown"},
		{"a URL of http, and what it needs", spec{HTTPURL: new("http://h/x")}, dell(), "httpURL:HttpDev1Uri:>http://h/x; httpURL:HttpDev1EnDis:Disabled>Enabled; httpURL:HttpDev1TlsMode:OneWay>None"},
		{"a URL of https", spec{HTTPURL: new("https://h/x")}, dell(), "httpURL:HttpDev1Uri:>https://h/x; httpURL:HttpDev1EnDis:Disabled>Enabled"},
		{"no URL needs nothing", spec{HTTPURL: new("")}, dell(), ""},
		{"a URL, and HTTP off", spec{HTTPURL: new("https://h/x"), HTTP: "Off"}, dell(), "httpURL:HttpDev1Uri:>https://h/x; httpURL:HttpDev1EnDis:Disabled>Enabled; http:HttpDev1EnDis:Disabled>Disabled!contradicts"},
		{"a URL, and HTTP on", spec{HTTPURL: new("https://h/x"), HTTP: "On"}, dell(), "httpURL:HttpDev1Uri:>https://h/x; httpURL:HttpDev1EnDis:Disabled>Enabled"},
		{"a URL, and another by its name", spec{HTTPURL: new("https://h/x"), Attributes: map[string]string{"HttpDev1Uri": "http://other"}}, dell(), "httpURL:HttpDev1Uri:>https://h/x!contradicts; httpURL:HttpDev1EnDis:Disabled>Enabled; attributes.HttpDev1Uri:HttpDev1Uri:>http://other"},
		{"a URL that HPE has, and a port that is chosen", spec{HTTPURL: new("http://h/x.efi")}, hpe(), "httpURL:UrlBootFile:http://h/old>http://h/x.efi"},
		{"a URL where no attributes can be read", spec{HTTPURL: new("http://h/x")}, bare, "httpURL::>http://h/x!unread"},
		{"Secure Boot on", spec{SecureBoot: "On"}, all, "secureBoot:SecureBootEnable:Off>On"},
		{"Secure Boot that is not shown", spec{SecureBoot: "On"}, bare, "secureBoot::>On!not-shown"},
		{"mains power", spec{PowerRestore: protocol.RestoreAlwaysOff}, all, "powerRestore:RestoreonACPowerLoss_0035:Last State>Stay Off"},
		{"mains power without a word for it", spec{PowerRestore: protocol.RestoreAlwaysOn}, all, "powerRestore:RestoreonACPowerLoss_0035:Last State>AlwaysOn!bad-value"},
		{"mains power that is not shown", spec{PowerRestore: protocol.RestoreAlwaysOn}, readable, "powerRestore::>AlwaysOn!not-shown"},
		{"network first", spec{BootOrder: []resource.BootClass{"network", "disk"}}, all, "bootOrder:Boot.BootOrder:Boot0002, Boot0003, Boot0001>Boot0003, Boot0002, Boot0001"},
		{"shell first, then a disk by path", spec{BootOrder: []resource.BootClass{"shell", "devicePath:*/NVMe(*"}}, all, "bootOrder:Boot.BootOrder:Boot0002, Boot0003, Boot0001>Boot0001, Boot0002, Boot0003"},
		{"a CD that is not in the order comes into it", spec{BootOrder: []resource.BootClass{"disk", "cd"}}, all, "bootOrder:Boot.BootOrder:Boot0002, Boot0003, Boot0001>Boot0002, Boot0005, Boot0003, Boot0001"},
		{"no USB stick to be second", spec{BootOrder: []resource.BootClass{"disk", "usb"}}, all, ""},
		{"no USB stick to be first", spec{BootOrder: []resource.BootClass{"usb", "disk"}}, all, "bootOrder::Boot0002, Boot0003, Boot0001>usb, disk!no-option"},
		{"no order", spec{BootOrder: []resource.BootClass{"disk"}}, bare, "bootOrder::>disk!unread"},
		{"an attribute", attribute("QuietBoot", "Disabled"), all, "attributes.QuietBoot:QuietBoot_0001:Enabled>Disabled"},
		{"a value that it may not have", attribute("QuietBoot", "Off"), all, "attributes.QuietBoot:QuietBoot_0001:Enabled>Off!bad-value"},
		{"a name of two", attribute("Speed", "3"), all, "attributes.Speed::>3!ambiguous"},
		{"no such attribute", attribute("Nothing", "3"), all, "attributes.Nothing::>3!not-shown"},
		{"read-only", attribute("Fixed", "y"), all, "attributes.Fixed:Fixed:x>y!read-only"},
		{"read-only, and so already", attribute("Fixed", "x"), all, ""},
		{"a password", attribute("AdminPassword", "y"), all, "attributes.AdminPassword:AdminPassword:>y!secret"},
		{"what waits for a reset is said", attribute("Waiting", "b"), all, "attributes.Waiting:Waiting:a>b(b)"},
	} {
		if got := said(Plan(tt.want, tt.of)); got != tt.plan {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.plan)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"*NVMe(*", "PciRoot(0x0)/NVMe(0x1)", true},
		{"PciRoot*", "PciRoot(0x0)", true},
		{"*/Uri()", "MAC(0)/Uri()", true},
		{"a*a", "a", false},
		{"a*b*b", "ab", false},
		{"a*b*b", "abb", true},
		{"abc", "abc", true},
		{"abc", "abcd", false},
		{"*x*", "", false},
	} {
		if got := matches(tt.pattern, tt.text); got != tt.want {
			t.Errorf("%q, %q: %v", tt.pattern, tt.text, got)
		}
	}
}

// set is what a BMC shows once changes were made.
func set(f protocol.Firmware, changes []protocol.FirmwareChange, to func(protocol.FirmwareChange) (string, []string)) protocol.Firmware {
	f.Switches, f.Attributes, f.BootOrder = slices.Clone(f.Switches), slices.Clone(f.Attributes), slices.Clone(f.BootOrder)
	f.HTTPURL.Needs = slices.Clone(f.HTTPURL.Needs)
	for _, c := range changes {
		if c.Hindrance != "" {
			continue
		}
		value, order := to(c)
		if f.HTTPURL.Name == c.Where && c.Where != "" {
			f.HTTPURL.Value = value
		}
		for i := range f.HTTPURL.Needs {
			if f.HTTPURL.Needs[i].Name == c.Where {
				f.HTTPURL.Needs[i].Value = value
			}
		}
		switch c.Where {
		case "Boot.BootOrder":
			f.BootOrder = order
		case "SecureBootEnable":
			f.SecureBoot = &protocol.SecureBoot{Enabled: value == "On"}
		}
		if f.Restore.Name == c.Where {
			f.Restore.Value, f.Restore.Policy = value, ""
			for p, w := range f.Restore.Words {
				if w == value {
					f.Restore.Policy = p
				}
			}
		}
		for i := range f.Switches {
			if f.Switches[i].Name == c.Where {
				f.Switches[i].Value = value
			}
		}
		for i := range f.Attributes {
			if f.Attributes[i].Name == c.Where {
				f.Attributes[i].Value = value
			}
		}
	}
	return f
}

func wanted(c protocol.FirmwareChange) (string, []string) { return c.Wanted, c.Order }

// TestPlanIsDone: once what can be had was done, only what cannot is left; and what was there before
// is what the plan says.
func TestPlanIsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, shown := drawSpec(t), drawFirmware(t)
		first := Plan(want, shown)
		done := set(shown, first, wanted)
		hindered := func(all []protocol.FirmwareChange) (out []string) {
			for _, c := range all {
				if c.Hindrance != "" {
					out = append(out, c.Setting+"!"+string(c.Hindrance))
				}
			}
			return out
		}
		second := Plan(want, done)
		if len(hindered(second)) != len(second) || !slices.Equal(hindered(first), hindered(second)) {
			t.Fatalf("after %s there is still %s", said(first), said(second))
		}
		back := set(done, first, func(c protocol.FirmwareChange) (string, []string) {
			return c.Today, slices.DeleteFunc(strings.Split(c.Today, protocol.FirmwareOrderWords), func(s string) bool { return s == "" })
		})
		if got, was := said(Plan(want, back)), said(first); got != was {
			t.Fatalf("with the old values back it is %s, and was %s", got, was)
		}
	})
}

func drawSpec(t *rapid.T) spec {
	power := rapid.SampledFrom([]resource.Power{"", resource.WantOn, resource.WantOff})
	words := rapid.SampledFrom([]string{"Enabled", "Disabled", "Other"})
	var url *string
	if text := rapid.SampledFrom([]string{"-", "", "http://h/x", "https://h/x"}).Draw(t, "URL"); text != "-" {
		url = &text
	}
	return spec{
		SafeStop: rapid.SampledFrom([]protocol.SafeStopClass{"", protocol.SafeStopShellFirst, protocol.SafeStopNetworkFirst}).Draw(t, "safe stop"), HTTPURL: url, HTTP: power.Draw(t, "http"), PXE: power.Draw(t, "pxe"), SecureBoot: power.Draw(t, "secure boot"),
		PowerRestore: rapid.SampledFrom([]protocol.RestorePolicy{"", protocol.RestoreAlwaysOff, protocol.RestoreAlwaysOn, protocol.RestoreLastState}).Draw(t, "restore"),
		BootOrder:    rapid.SliceOfNDistinct(rapid.SampledFrom(append(resource.BootClasses(), "devicePath:*1*", "devicePath:p*")), 0, 4, rapid.ID).Draw(t, "order"),
		Attributes:   rapid.MapOfN(rapid.SampledFrom([]string{"S0", "S1", "S2", "R", "A", "B", "U", "N"}), words, 0, 4).Draw(t, "attributes"),
	}
}

func drawFirmware(t *rapid.T) (f protocol.Firmware) {
	words := rapid.SampledFrom([]string{"Enabled", "Disabled", "Other"})
	draw := func(name string) protocol.FirmwareValue {
		v := value(name, words.Draw(t, name))
		v.ReadOnly, v.Secret = rapid.IntRange(0, 5).Draw(t, "read-only") == 0, rapid.IntRange(0, 9).Draw(t, "secret") == 0
		return v
	}
	f.BIOS = rapid.Bool().Draw(t, "BIOS")
	for i := range rapid.IntRange(0, 3).Draw(t, "switches") {
		v := draw(fmt.Sprintf("S%d", i))
		of := rapid.SampledFrom([]protocol.OptionKind{"", protocol.OptionHTTP, protocol.OptionPXE}).Draw(t, "of")
		f.Switches = append(f.Switches, protocol.FirmwareSwitch{FirmwareValue: v, Of: of, On: "Enabled", Off: "Disabled"})
		if rapid.Bool().Draw(t, "asked") {
			f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{Asked: v.Name, FirmwareValue: v})
		}
	}
	if rapid.Bool().Draw(t, "restore") {
		f.Restore = protocol.FirmwareRestore{FirmwareValue: draw("R"), Words: map[protocol.RestorePolicy]string{protocol.RestoreAlwaysOn: "Enabled", protocol.RestoreAlwaysOff: "Disabled"}}
		f.Restore.Policy = map[string]protocol.RestorePolicy{"Enabled": protocol.RestoreAlwaysOn, "Disabled": protocol.RestoreAlwaysOff}[f.Restore.Value]
		f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{Asked: "R", FirmwareValue: f.Restore.FirmwareValue})
	}
	if rapid.Bool().Draw(t, "URL") {
		need := protocol.FirmwareNeed{FirmwareValue: draw("N"), HTTP: "None", HTTPS: "OneWay"}
		if rapid.Bool().Draw(t, "needs a switch") && len(f.Switches) > 0 {
			need = protocol.FirmwareNeed{FirmwareValue: f.Switches[0].FirmwareValue, HTTP: "Enabled", HTTPS: "Enabled", Off: "Disabled"}
		}
		f.HTTPURL = protocol.FirmwareURL{FirmwareValue: draw("U"), Needs: []protocol.FirmwareNeed{need}}
		f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{Asked: "U", FirmwareValue: f.HTTPURL.FirmwareValue})
	}
	if rapid.Bool().Draw(t, "A") {
		f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{Asked: "A", FirmwareValue: draw("A")})
	}
	if rapid.Bool().Draw(t, "secure boot") {
		f.SecureBoot = &protocol.SecureBoot{Enabled: rapid.Bool().Draw(t, "enabled")}
	}
	kinds := rapid.SampledFrom([]protocol.OptionKind{protocol.OptionPXE, protocol.OptionHTTP, protocol.OptionDisk, protocol.OptionCD, protocol.OptionShell, protocol.OptionOther})
	for i := range rapid.IntRange(0, 5).Draw(t, "options") {
		o := protocol.BootOption{Reference: fmt.Sprintf("Boot%d", i), Kind: kinds.Draw(t, "kind"), Path: fmt.Sprintf("p%d", i), Disabled: rapid.IntRange(0, 4).Draw(t, "disabled") == 0}
		f.BootOptions = append(f.BootOptions, o)
		if rapid.Bool().Draw(t, "in the order") {
			f.BootOrder = append(f.BootOrder, o.Reference)
		}
	}
	return f
}
