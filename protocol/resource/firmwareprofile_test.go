package resource

import (
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestFirmwareProfileValidate(t *testing.T) {
	many := map[string]string{}
	for i := range protocol.MaxFirmwareAttributes + 1 {
		many[fmt.Sprintf("A%d", i)] = "x"
	}
	for name, c := range map[string]struct {
		change func(*FirmwareProfileSpec)
		want   string // the path and a part of what is said; empty is right
	}{
		"whole":           {func(*FirmwareProfileSpec) {}, ""},
		"one setting":     {func(s *FirmwareProfileSpec) { *s = FirmwareProfileSpec{Selector: s.Selector, PXE: WantOff} }, ""},
		"nothing":         {func(s *FirmwareProfileSpec) { *s = FirmwareProfileSpec{Selector: s.Selector} }, "spec: says nothing of firmware"},
		"every server":    {func(s *FirmwareProfileSpec) { s.Selector = Selector{} }, "spec.selector.matchLabels"},
		"class":           {func(s *FirmwareProfileSpec) { s.BootOrder[0] = "floppy" }, `spec.bootOrder[0]: "floppy" is none of`},
		"class twice":     {func(s *FirmwareProfileSpec) { s.BootOrder[1] = "network" }, "spec.bootOrder[1]: network is given twice"},
		"empty path":      {func(s *FirmwareProfileSpec) { s.BootOrder[0] = "devicePath:**" }, "spec.bootOrder[0]: give a device path"},
		"too many":        {func(s *FirmwareProfileSpec) { s.BootOrder = make([]BootClass, maxBootEntries+1) }, "spec.bootOrder: has 17 entries"},
		"switch":          {func(s *FirmwareProfileSpec) { s.HTTP = "on" }, `spec.http: "on" is not one of On, Off`},
		"Secure Boot":     {func(s *FirmwareProfileSpec) { s.SecureBoot = "true" }, "spec.secureBoot"},
		"restore policy":  {func(s *FirmwareProfileSpec) { s.PowerRestore = "Never" }, "spec.powerRestore"},
		"attribute":       {func(s *FirmwareProfileSpec) { s.Attributes = map[string]string{"A B": "x"} }, "spec.attributes[A B]: is no name"},
		"value":           {func(s *FirmwareProfileSpec) { s.Attributes = map[string]string{"A": "x\n"} }, "spec.attributes[A]: the value"},
		"many attributes": {func(s *FirmwareProfileSpec) { s.Attributes = many }, "spec.attributes: has 65"},
		"safe stop":       {func(s *FirmwareProfileSpec) { *s = FirmwareProfileSpec{Selector: s.Selector, SafeStop: "ShellFirst"} }, ""},
		"no safe stop":    {func(s *FirmwareProfileSpec) { s.SafeStop = "None" }, `spec.safeStop: "None" is not one of ShellFirst, NetworkFirst`},
		"no URL":          {func(s *FirmwareProfileSpec) { *s = FirmwareProfileSpec{Selector: s.Selector, HTTPURL: new("")} }, ""},
		"URL":             {func(s *FirmwareProfileSpec) { s.HTTPURL = new("https://[2001:db8::1]:8443/x.efi?a=b") }, ""},
		"URL of FTP":      {func(s *FirmwareProfileSpec) { s.HTTPURL = new("ftp://h/x") }, "spec.httpURL: give http://host/path"},
		"path only":       {func(s *FirmwareProfileSpec) { s.HTTPURL = new("/x.efi") }, "spec.httpURL: give http://host/path"},
		"URL's account":   {func(s *FirmwareProfileSpec) { s.HTTPURL = new("http://u:p@h/x") }, "spec.httpURL: has a user name"},
		"URL's fragment":  {func(s *FirmwareProfileSpec) { s.HTTPURL = new("http://h/x#y") }, "spec.httpURL: has a fragment"},
		"URL's spaces":    {func(s *FirmwareProfileSpec) { s.HTTPURL = new("http://h/x y") }, "spec.httpURL: give a URL of up to 255"},
		"long URL":        {func(s *FirmwareProfileSpec) { s.HTTPURL = new("http://h/" + strings.Repeat("x", 250)) }, "spec.httpURL: give a URL of up to 255"},
		"empty value":     {func(s *FirmwareProfileSpec) { s.Attributes = map[string]string{"HttpDev1Uri": ""} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &FirmwareProfile{Spec: FirmwareProfileSpec{
				Selector: Selector{MatchLabels: map[string]string{"role": "worker"}}, BootOrder: []BootClass{"network", "devicePath:*NVMe(*"},
				HTTP: WantOn, PowerRestore: protocol.RestoreLastState, SecureBoot: WantOff, Attributes: map[string]string{"QuietBoot": "Disabled"},
			}}
			p.Metadata.Name = "p1"
			c.change(&p.Spec)
			p.Default()
			got := p.Validate()
			if (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
				t.Errorf("%v; want %q", got, c.want)
			}
		})
	}
}
