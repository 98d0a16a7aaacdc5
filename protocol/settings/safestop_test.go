package settings

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	shellFirst   = protocol.SafeStopShellFirst
	networkFirst = protocol.SafeStopNetworkFirst
)

// ilo is what an iLO shows: no shell among the boot options, and two attributes that bring it.
func ilo() protocol.Firmware {
	sw := func(name, now string) protocol.FirmwareSwitch {
		return protocol.FirmwareSwitch{FirmwareValue: value(name, now), Of: protocol.OptionShell, On: "Enabled", Off: "Disabled"}
	}
	return protocol.Firmware{
		BootOptions: []protocol.BootOption{{Reference: "Boot002A", Kind: protocol.OptionPXE}, {Reference: "Boot0021", Kind: protocol.OptionDisk}},
		SecureBoot:  &protocol.SecureBoot{Enabled: true, Current: true},
		FirmwareSettings: protocol.FirmwareSettings{
			BIOS: true, BootOrder: []string{"Boot0021", "Boot002A"},
			Switches: []protocol.FirmwareSwitch{sw("UefiShellBootOrder", "Disabled"), sw("EmbeddedUefiShell", "Enabled")},
		},
	}
}

func TestPlanOfSafeStop(t *testing.T) {
	smc := supermicro()
	waits, dark := supermicro(), supermicro()
	waits.SecureBoot, dark.SecureBoot = &protocol.SecureBoot{Current: true}, nil
	bare := protocol.Firmware{SecureBoot: &protocol.SecureBoot{}}
	noShell := ilo()
	noShell.Switches = nil
	const today, shell, network = "Boot0002, Boot0003, Boot0001", "Boot0001, Boot0002, Boot0003", "Boot0003, Boot0002, Boot0001"
	for _, tt := range []struct {
		name string
		want spec
		of   protocol.Firmware
		plan string
	}{
		{"shell first", spec{SafeStop: shellFirst}, smc, "safeStop:Boot.BootOrder:" + today + ">" + shell},
		{"shell first, and the order says it", spec{SafeStop: shellFirst, BootOrder: []resource.BootClass{"shell", "disk"}}, smc, "bootOrder:Boot.BootOrder:" + today + ">" + shell},
		{"shell first, and the order wants the disk", spec{SafeStop: shellFirst, BootOrder: []resource.BootClass{"disk"}}, smc, "safeStop:Boot.BootOrder:" + today + ">ShellFirst!contradicts"},
		{"shell first, and Secure Boot is wanted", spec{SafeStop: shellFirst, SecureBoot: "On"}, smc, "secureBoot:SecureBootEnable:Off>On; safeStop:SecureBootEnable:Off>Off!contradicts"},
		{"shell first, Secure Boot is off after the next reset", spec{SafeStop: shellFirst}, waits, "safeStop:SecureBootEnable:On>Off(Off); safeStop:Boot.BootOrder:" + today + ">" + shell},
		{"shell first, and nobody knows of Secure Boot", spec{SafeStop: shellFirst}, dark, "safeStop::>Off!not-shown"},
		{"shell first of an iLO: first the attribute", spec{SafeStop: shellFirst}, ilo(), "safeStop:SecureBootEnable:On>Off; safeStop:UefiShellBootOrder:Disabled>Enabled"},
		{"shell first of an iLO, and the attribute by its name", spec{SafeStop: shellFirst, SecureBoot: "Off", Attributes: map[string]string{"UefiShellBootOrder": "Disabled"}}, asked(ilo()), "secureBoot:SecureBootEnable:On>Off; safeStop:UefiShellBootOrder:Disabled>Enabled!contradicts"},
		{"shell first where there is none", spec{SafeStop: shellFirst, SecureBoot: "Off"}, noShell, "secureBoot:SecureBootEnable:On>Off; safeStop::>ShellFirst!no-option"},
		{"shell first, and no order is shown", spec{SafeStop: shellFirst}, bare, "safeStop::>ShellFirst!unread"},
		{"network first", spec{SafeStop: networkFirst}, smc, "safeStop:Boot.BootOrder:" + today + ">" + network},
		{"network first, whatever Secure Boot is", spec{SafeStop: networkFirst}, ilo(), "safeStop:Boot.BootOrder:Boot0021, Boot002A>Boot002A, Boot0021"},
		{"network first, and no network boots", spec{SafeStop: networkFirst, HTTP: "Off", PXE: "Off"}, ilo(), "http::>Off!not-shown; pxe::>Off!not-shown; safeStop::>NetworkFirst!contradicts"},
		{"network first, and the order wants the shell", spec{SafeStop: networkFirst, BootOrder: []resource.BootClass{"shell"}}, smc, "bootOrder:Boot.BootOrder:" + today + ">" + shell + "; safeStop:Boot.BootOrder:" + today + ">NetworkFirst!contradicts"},
		{"network first, by a path", spec{SafeStop: networkFirst, BootOrder: []resource.BootClass{"network"}}, smc, "bootOrder:Boot.BootOrder:" + today + ">" + network},
	} {
		if got := said(Plan(tt.want, tt.of)); got != tt.plan {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.plan)
		}
	}
}

// asked is what a BMC shows whose attribute is asked for by its name as well.
func asked(f protocol.Firmware) protocol.Firmware {
	f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{Asked: f.Switches[0].Name, FirmwareValue: f.Switches[0].FirmwareValue})
	return f
}

// reset is what a BMC shows after the reset that its settings wait for: Secure Boot is as it was to be, and a shell
// whose attributes are on is a boot option, the last one.
func reset(f protocol.Firmware) protocol.Firmware {
	if f.SecureBoot != nil {
		f.SecureBoot = &protocol.SecureBoot{Enabled: f.SecureBoot.Enabled, Current: f.SecureBoot.Enabled}
	}
	shells := facts(f).Shell
	off := func(s protocol.FirmwareSwitch) bool { return s.Value == s.Off }
	if len(shells) > 0 && !slices.ContainsFunc(shells, off) && !slices.ContainsFunc(f.BootOptions, func(o protocol.BootOption) bool { return o.Kind == protocol.OptionShell }) {
		f.BootOptions = append(slices.Clone(f.BootOptions), protocol.BootOption{Reference: "Shell", Kind: protocol.OptionShell})
		f.BootOrder = append(slices.Clone(f.BootOrder), "Shell")
	}
	return f
}

// TestSafeStopIsBrought: a plan that is applied, with its resets, gives the class that was wanted, or says why it
// cannot; and where the class is the one that is wanted, nothing is planned.
func TestSafeStopIsBrought(t *testing.T) {
	brought := map[protocol.SafeStopClass]int{}
	rapid.Check(t, func(t *rapid.T) {
		want, shown := spec{SafeStop: rapid.SampledFrom([]protocol.SafeStopClass{shellFirst, networkFirst}).Draw(t, "wanted")}, drawFirmware(t)
		if rapid.Bool().Draw(t, "as an iLO") {
			shown.Switches = ilo().Switches
			shown.Switches[0].Value = rapid.SampledFrom([]string{"Enabled", "Disabled"}).Draw(t, "shell")
		}
		if shown.SecureBoot != nil {
			shown.SecureBoot.Current = rapid.Bool().Draw(t, "current")
		}
		var plan []protocol.FirmwareChange
		for range 3 {
			class := protocol.SafeStopOf(facts(shown)).Class
			if plan = Plan(want, shown); (len(plan) == 0) != (class == want.SafeStop) {
				t.Fatalf("the class is %s, and planned is %s", class, said(plan))
			}
			if len(plan) == 0 {
				brought[class]++
				return
			}
			if got := Drift(plan); len(got) == 0 && !slices.ContainsFunc(plan, func(c protocol.FirmwareChange) bool { return !isDrift(c.Hindrance) }) {
				t.Fatalf("no drift of %s", said(plan))
			}
			shown = reset(set(shown, plan, wanted))
		}
		if !slices.ContainsFunc(plan, func(c protocol.FirmwareChange) bool { return c.Hindrance != "" }) {
			t.Fatalf("after three resets there is still %s", said(plan))
		}
	})
	if brought[shellFirst] == 0 || brought[networkFirst] == 0 {
		t.Errorf("brought: %v", brought)
	}
}
