package attest_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/attest/quotetest"
)

// What was booted as expected is attested, and its values are those that secrets are sealed to.
func TestAttested(t *testing.T) {
	for name, m := range map[string]*machine{"unified kernel image": unified(t), "shim and GRUB": chain(t)} {
		v := m.verify()
		if !v.Attested() || !v.Counted || v.Quote.Clock.Resets != 7 {
			t.Errorf("%s: %+v", name, v)
		}
		p, err := v.Policy()
		if err != nil || len(p.Values) != len(v.Quote.PCRs) || !bytes.Equal(p.Values[4], m.pcrs[4]) || p.Resets == nil || *p.Resets != 7 {
			t.Errorf("%s: policy %+v, %v", name, p, err)
		}
	}
}

// difference is what a row expects.
type difference struct {
	code  attest.Code
	pcr   int
	event int
	name  string
}

// Each change of what a machine booted, of its firmware's settings, of its TPM or of its evidence is
// noticed, and named by what changed.
func TestChanges(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name   string
		boot   func(testing.TB) *machine
		change func(*machine)
		want   []difference
	}{
		// What booted.
		{"another image", unified, func(m *machine) { m.instead(24, "evil") }, []difference{{attest.OtherImage, 4, 24, `Acpi(0xa0341d0,0x0)/Pci(0x1f,0x2)/Path(3,18)/\EFI\BOOT\BOOTX64.EFI`}}},
		{"another kernel", chain, func(m *machine) { m.instead(42, "evil"); m.instead(43, "evil") }, []difference{{attest.OtherImage, 4, 42, ""}}},
		{"no kernel", chain, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 42, 44) }, []difference{{attest.MissingImage, 4, none, "kernel"}}},
		{"GRUB without shim", chain, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 25, 26) }, []difference{{attest.OtherImage, 4, 30, `\EFI\BOOT\grubx64.efi`}}},
		{"nothing was started", unified, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 24, 34) }, []difference{
			{attest.NoImageMeasured, 4, none, ""},
			{attest.OtherSection, 11, none, ".linux"},
			{attest.OtherSection, 11, none, ".osrel"},
			{attest.OtherSection, 11, none, ".cmdline"},
			{attest.OtherSection, 11, none, ".initrd"},
		}},
		{"a program ran first and returned", unified, func(m *machine) {
			m.log.Events = slices.Insert(m.log.Events, 23, eventlog.Event{PCR: 4, Type: eventlog.EFIBootServicesApplication, Digests: []eventlog.Digest{{Bank: eventlog.SHA256, Value: sum("evil")}}})
		}, []difference{{attest.OtherImage, 4, 23, ""}}},
		{"the kernel is not measured, which may be", unified, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 33, 34) }, nil},
		{"another command line in the image", unified, func(m *machine) { m.instead(30, "init=/bin/sh") }, []difference{{attest.OtherSection, 11, 30, ".cmdline"}}},
		{"another initrd in the image", unified, func(m *machine) { m.instead(32, "evil") }, []difference{{attest.OtherSection, 11, 32, ".initrd"}}},
		{"another kernel in the image", unified, func(m *machine) { m.instead(26, "evil") }, []difference{{attest.OtherSection, 11, 26, ".linux"}}},
		{"no command line in the image", unified, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 29, 31) }, []difference{{attest.OtherSection, 11, none, ".cmdline"}}},
		{"a section more", unified, func(m *machine) {
			m.measure(11, eventlog.IPL, ".ucode", ".ucode\x00")
			m.measure(11, eventlog.IPL, ".ucode", "evil")
		}, []difference{{attest.OtherSection, 11, 38, ".ucode"}}},
		{"sections in another order", unified, func(m *machine) {
			e := m.log.Events
			e[27], e[28], e[29], e[30] = e[29], e[30], e[27], e[28]
		}, []difference{{attest.Unaccounted, 11, none, ""}}},
		{"a command line from outside", unified, func(m *machine) { m.measure(12, eventlog.IPL, "i\x00n\x00\x00\x00", "in") }, []difference{{attest.OtherCommandLine, 12, 38, "in"}}},
		{"one that was expected", unified, func(m *machine) {
			m.measure(12, eventlog.IPL, "i\x00n\x00\x00\x00", "in")
			m.expect.Parameters = []attest.Item{{Digest: sum("in")}}
		}, nil},
		{"a system extension", unified, func(m *machine) { m.measure(13, eventlog.IPL, "evil.raw", "evil") }, []difference{{attest.OtherExtension, 13, 38, "evil.raw"}}},
		{"another command of GRUB", chain, func(m *machine) { m.instead(40, "linux /vmlinuz init=/bin/sh") }, []difference{
			{attest.OtherCommand, 8, 40, "grub_cmd: linux /vmlinuz console=ttyS0 panic=-1"},
			{attest.OtherCommand, 8, none, "grub_cmd: linux /vmlinuz console=ttyS0 panic=-1"},
		}},
		{"another initrd of GRUB", chain, func(m *machine) { m.instead(46, "evil") }, []difference{{attest.OtherFile, 9, 46, "/initrd.gz"}, {attest.OtherFile, 9, none, "/initrd.gz"}}},
		{"another boot option", unified, func(m *machine) { m.instead(10, "other") }, []difference{{attest.OtherBootOption, 1, none, ""}}},
		{"a boot option that was measured too late", unified, func(m *machine) {
			m.instead(10, "other")
			m.measure(1, eventlog.EFIVariableBoot, "", "")
			m.log.Events[38].Digests[0].Value = m.expect.BootOption
		}, []difference{{attest.OtherBootOption, 1, none, ""}}},

		// Secure Boot.
		{"Secure Boot off", unified, func(m *machine) { m.expect.SecureBoot = true }, []difference{{attest.SecureBootOff, 7, none, "SecureBoot"}}},
		{"on, says who extends PCR 7 later", unified, func(m *machine) {
			m.expect.SecureBoot = true
			on := string(secureBootOn())
			m.measure(7, eventlog.EFIVariableDriverConfig, on, on)
		}, []difference{{attest.SecureBootUnclear, 7, none, "SecureBoot"}}},
		{"the state comes after something else", chain, func(m *machine) { e := m.log.Events; e[3], e[4] = e[4], e[3] }, []difference{{attest.SecureBootUnclear, 7, none, "SecureBoot"}}},
		{"a variable of that name of somebody else's", chain, func(m *machine) {
			m.event(3).Data = logtest.Variable(eventlog.Variable{Name: "SecureBoot", Value: []byte{1}})
			m.instead(3, string(m.event(3).Data))
		}, []difference{{attest.OtherAuthority, 7, 3, "SecureBoot"}, {attest.SecureBootUnclear, 7, none, "SecureBoot"}}},
		{"firmware wrote no separator", chain, func(m *machine) { m.log.Events = slices.Delete(m.log.Events, 8, 9) }, []difference{{attest.SecureBootUnclear, 7, none, "SecureBoot"}}},
		{"the state is only claimed", chain, func(m *machine) { m.instead(3, "off") }, []difference{{attest.Unaccounted, 7, 3, "SecureBoot"}, {attest.SecureBootUnclear, 7, none, "SecureBoot"}}},
		{"a debugger", chain, func(m *machine) {
			m.log.Events = slices.Insert(m.log.Events, 3, eventlog.Event{PCR: 7, Type: eventlog.EFIAction, Data: []byte("UEFI Debug Mode"), Digests: []eventlog.Digest{{Bank: eventlog.SHA256, Value: sum("UEFI Debug Mode")}}})
		}, []difference{{attest.DebugMode, 7, 3, "UEFI Debug Mode"}}},
		{"somebody else had signed", chain, func(m *machine) { m.expect.Authorities = m.expect.Authorities[1:] }, []difference{{attest.OtherAuthority, 7, 24, "db"}}},
		{"somebody else had signed a driver, before the separator", chain, func(m *machine) {
			db := logtest.Variable(eventlog.Variable{Name: "db", Value: []byte("a certificate")})
			m.log.Events = slices.Insert(m.log.Events, 8, eventlog.Event{PCR: 7, Type: eventlog.EFIVariableAuthority, Data: db, Digests: []eventlog.Digest{{Bank: eventlog.SHA256, Value: sum(string(db))}}})
		}, []difference{{attest.OtherAuthority, 7, 8, "db"}}},
		{"anybody may have signed", chain, func(m *machine) { m.expect.Authorities = nil }, nil},

		// Evidence that is edited.
		{"the quote of another TPM", unified, func(m *machine) { m.signer = quotetest.ECDSA(m.t) }, []difference{{attest.WrongKey, none, none, ""}}},
		{"an old quote", unified, func(m *machine) { m.quoted(); m.expect.Nonce = []byte("another nonce of") }, []difference{{attest.WrongNonce, none, none, ""}}},
		{"no nonce", unified, func(m *machine) { m.expect.Nonce = nil }, []difference{{attest.NotEnrolled, none, none, ""}}},
		{"nothing expected", unified, func(m *machine) { m.expect.Images = nil }, []difference{{attest.NotEnrolled, none, none, ""}}},
		{"no key", unified, func(m *machine) { m.enrolled = attest.Enrolment{} }, []difference{{attest.NotEnrolled, none, none, ""}}},
		{"no quote", unified, func(m *machine) { m.evidence.Quote = []byte{} }, []difference{{attest.UnreadableQuote, none, none, ""}}},
		{"an edited quote", unified, func(m *machine) { m.quoted(); m.evidence.Quote[50] ^= 1 }, []difference{{attest.BadSignature, none, none, ""}}},
		{"another bank", unified, func(m *machine) { m.quoted(); m.expect.Bank = eventlog.SHA384 }, []difference{{attest.UnknownBank, none, none, "sha384"}}},
		{"an edited value", unified, func(m *machine) { m.quoted(); m.evidence.PCRs[4] = make([]byte, 32) }, []difference{{attest.WrongValues, none, none, ""}}},
		{"a value that is not sent", unified, func(m *machine) { m.quoted(); delete(m.evidence.PCRs, 4) }, []difference{{attest.WrongValues, none, none, ""}}},
		{"a quote without what matters", unified, func(m *machine) { m.settle(); delete(m.pcrs, 11); delete(m.pcrs, 4) }, []difference{{attest.NotQuoted, 4, none, ""}, {attest.NotQuoted, 11, none, ""}}},
		{"a log that is cut", unified, func(m *machine) { m.evidence.Log = m.written()[:1000] }, []difference{{attest.UnreadableLog, none, none, ""}}},
		{"a log of another bank", unified, func(m *machine) { m.evidence.Log = logtest.New(eventlog.SHA384).Bytes() }, []difference{{attest.UnreadableLog, none, none, ""}}},
		{"an event is taken out", unified, func(m *machine) { m.settle(); m.log.Events = slices.Delete(m.log.Events, 24, 25) }, []difference{{attest.LogDoesNotReplay, 4, none, ""}}},
		{"an event is put in", unified, func(m *machine) { m.settle(); m.measure(12, eventlog.IPL, "x", "x") }, []difference{{attest.LogDoesNotReplay, 12, none, ""}}},
		{"an event is moved to another PCR", unified, func(m *machine) { m.settle(); m.event(24).PCR = 5 }, []difference{{attest.LogDoesNotReplay, 4, none, ""}, {attest.LogDoesNotReplay, 5, none, ""}}},
		{"an event is called not extended", unified, func(m *machine) { m.settle(); m.event(24).Type = eventlog.NoAction }, []difference{{attest.LogDoesNotReplay, 4, none, ""}}},
		{"another PCR 0 to begin with", unified, func(m *machine) {
			m.settle()
			m.log.Events = slices.Insert(m.log.Events, 0, eventlog.Event{Type: eventlog.NoAction, Data: []byte("StartupLocality\x00\x03"), Digests: m.event(0).Digests})
		}, []difference{{attest.LogDoesNotReplay, 0, none, ""}}},
		{"extended behind the log's back", unified, func(m *machine) { m.extended(4, "evil") }, []difference{{attest.LogDoesNotReplay, 4, none, ""}}},
		{"events that were not extended change nothing", unified, func(m *machine) { m.settle(); m.measure(4, eventlog.NoAction, "x", "x") }, nil},

		// An image that hides under another type: types are in no digest.
		{"an image called an action", unified, func(m *machine) { m.instead(24, "evil"); m.event(24).Type = eventlog.EFIAction }, []difference{{attest.OtherImage, 4, 24, ""}}},
		{"an image called a separator", unified, func(m *machine) { m.instead(24, "evil"); m.event(24).Type = eventlog.Separator }, []difference{{attest.OtherImage, 4, 24, ""}}},
		{"an image whose whole content is in the log, called an action", unified, func(m *machine) {
			evil := "MZ" + string(bytes.Repeat([]byte("evil"), 100))
			m.instead(24, evil)
			m.event(24).Type, m.event(24).Data = eventlog.EFIAction, []byte(evil)
		}, []difference{{attest.OtherImage, 4, 24, ""}}},
		{"the right image extended after the wrong one", unified, func(m *machine) {
			right := m.expect.Images[0].Digest
			m.instead(24, "evil")
			m.measure(4, eventlog.EFIBootServicesApplication, "", "")
			m.log.Events[38].Digests[0].Value = right
		}, []difference{{attest.OtherImage, 4, 24, ""}}},
		{"the right sections extended after the wrong ones", unified, func(m *machine) {
			m.instead(32, "evil")
			for _, s := range m.expect.Sections {
				m.measure(11, eventlog.IPL, s.Name, s.Name+"\x00")
				m.measure(11, eventlog.IPL, s.Name, "")
				m.log.Events[len(m.log.Events)-1].Digests[0].Value = s.Digest
			}
		}, []difference{{attest.Unaccounted, 11, none, ""}}},

		// Phases, which are in no log of firmware.
		{"a phase was measured", unified, func(m *machine) { m.extended(11, "enter-initrd"); m.evidence.Phases = []string{"enter-initrd"} }, nil},
		{"a phase that may not be any more", unified, func(m *machine) {
			m.extended(11, "enter-initrd")
			m.extended(11, "sysinit")
			m.evidence.Phases = []string{"enter-initrd", "sysinit"}
		}, []difference{{attest.OtherPhase, 11, none, ""}}},
		{"a phase that may not be, after another image", unified, func(m *machine) {
			m.instead(24, "evil")
			m.extended(11, "sysinit")
			m.evidence.Phases = []string{"sysinit"}
		}, []difference{{attest.OtherImage, 4, 24, ""}, {attest.OtherPhase, 11, none, ""}}},
		{"a phase that is not said", unified, func(m *machine) { m.extended(11, "enter-initrd") }, []difference{{attest.LogDoesNotReplay, 11, none, ""}}},
		{"a phase that was not measured", unified, func(m *machine) { m.evidence.Phases = []string{"enter-initrd"} }, []difference{{attest.LogDoesNotReplay, 11, none, ""}}},
	} {
		m := c.boot(t)
		c.change(m)
		v := m.verify()
		if v.Attested() != (c.want == nil) {
			t.Errorf("%s: attested is %v", c.name, v.Attested())
		}
		var got []difference
		for _, d := range v.Differences {
			got = append(got, difference{d.Code, d.PCR, d.Event, d.Name})
			if len(c.want) > len(got)-1 && c.want[len(got)-1].name == "" {
				got[len(got)-1].name = ""
			}
			if !v.Has(d.Code) {
				t.Errorf("%s: has no %s", c.name, d.Code)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
		if _, err := v.Policy(); (err == nil) != (c.want == nil) {
			t.Errorf("%s: policy %v", c.name, err)
		}
	}
	if (attest.Verdict{}).Attested() {
		t.Error("a verdict that nobody made is attested")
	}
}

func secureBootOn() []byte {
	return logtest.Variable(eventlog.Variable{Owner: eventlog.GlobalVariable(), Name: "SecureBoot", Value: []byte{1}})
}

// What changed between two boots is said by its events.
func TestDrift(t *testing.T) {
	m := chain(t)
	before := m.parsed()
	if d := attest.Drift(before, m.parsed(), eventlog.SHA256, []int{0, 1, 2, 3, 4, 5, 6, 7}); d != nil {
		t.Errorf("nothing changed, and %v", d)
	}
	m.instead(7, "a newer dbx")
	m.instead(0, "newer firmware")
	m.log.Events = slices.Delete(m.log.Events, 13, 14)
	m.measure(2, eventlog.EFIBootServicesDriver, "an option ROM", "an option ROM")
	e := m.log.Events
	e[10], e[11] = e[11], e[10]
	var got []string
	for _, d := range attest.Drift(before, m.parsed(), eventlog.SHA256, []int{0, 1, 2, 7}) {
		got = append(got, fmt.Sprint(d.PCR, " ", d.Event, " ", d.Name, " ", d.Expected != nil, " ", d.Seen != nil))
		if d.Code != attest.Drifted {
			t.Errorf("%+v", d)
		}
	}
	want := []string{
		"0 0 EV_S_CRTM_VERSION  true true",
		"1 -1 EV_EFI_VARIABLE_BOOT Boot0003 true false",
		"2 48 EV_EFI_BOOT_SERVICES_DRIVER an option ROM false true",
		"7 7 EV_EFI_VARIABLE_DRIVER_CONFIG dbx true true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	order := chain(t)
	order.log.Events[10], order.log.Events[11] = order.log.Events[11], order.log.Events[10]
	if d := attest.Drift(before, order.parsed(), eventlog.SHA256, []int{1}); len(d) == 0 {
		t.Error("another order is no drift")
	}
}
