package eventlog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/protocol"
)

// What firmware and loaders wrote makes the values that the TPM had.
func TestRecorded(t *testing.T) {
	for name, events := range map[string]int{logtest.Unified: 38, logtest.ShimGRUB: 49} {
		raw, pcrs := logtest.Recorded(t, name)
		log, err := eventlog.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(log.Events) != events || !slices.Equal(log.Banks, []eventlog.Algorithm{eventlog.SHA256}) {
			t.Errorf("%s: %d events in %s", name, len(log.Events), log.Banks)
		}
		got, err := log.Replay(eventlog.SHA256)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for pcr, value := range got {
			if pcr != 10 && !bytes.Equal(value, pcrs[pcr]) { // which Linux extends
				t.Errorf("%s: PCR %d is %x, the TPM had %x", name, pcr, value, pcrs[pcr])
			}
		}
	}
}

// All banks are replayed apart, what is not extended changes nothing, and the locality is where PCR 0 begins.
func TestReplay(t *testing.T) {
	log := logtest.New(eventlog.SHA1, eventlog.SHA256, eventlog.SHA384, eventlog.SHA512).
		Data(0, eventlog.NoAction, []byte("StartupLocality\x00\x03")).
		Data(0, eventlog.CRTMVersion, []byte("1")).
		Data(0, eventlog.NoAction, []byte("anything")).
		Data(5, eventlog.EFIAction, []byte("Exit Boot Services Invocation")).
		Data(17, eventlog.Separator, []byte("a late launch"))
	parsed, err := eventlog.Parse(log.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, bank := range []eventlog.Algorithm{eventlog.SHA256, eventlog.SHA384, eventlog.SHA512} {
		h, _ := bank.Hash()
		extend := func(value, measured []byte) []byte {
			of, sum := h.New(), h.New()
			of.Write(measured)
			sum.Write(value)
			sum.Write(of.Sum(nil))
			return sum.Sum(nil)
		}
		zero := make([]byte, bank.Size())
		three := slices.Clone(zero)
		three[len(three)-1] = 3
		got, err := parsed.Replay(bank)
		if err != nil {
			t.Fatal(err)
		}
		for pcr, want := range map[int][]byte{0: extend(three, []byte("1")), 5: extend(zero, []byte("Exit Boot Services Invocation")), 15: zero} {
			if !bytes.Equal(got[pcr], want) {
				t.Errorf("%s: PCR %d is %x, want %x", bank, pcr, got[pcr], want)
			}
		}
	}
	for name, c := range map[string]struct {
		log  *logtest.Log
		bank eventlog.Algorithm
		code protocol.Code
	}{
		"SHA-1 is no proof":             {log, eventlog.SHA1, protocol.CodeUnsupported},
		"SM3 is not computed":           {logtest.New(eventlog.SM3), eventlog.SM3, protocol.CodeUnsupported},
		"a bank that the log lacks":     {logtest.New(eventlog.SHA256), eventlog.SHA384, protocol.CodeUnsupported},
		"two localities":                {logtest.New(eventlog.SHA256).Data(0, eventlog.NoAction, []byte("StartupLocality\x00\x03")).Data(0, eventlog.NoAction, []byte("StartupLocality\x00\x00")), eventlog.SHA256, protocol.CodeInvalid},
		"a locality after the measured": {logtest.New(eventlog.SHA256).Data(0, eventlog.CRTMVersion, nil).Data(0, eventlog.NoAction, []byte("StartupLocality\x00\x03")), eventlog.SHA256, protocol.CodeInvalid},
	} {
		parsed, err := eventlog.Parse(c.log.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var e *protocol.Error
		if _, err := parsed.Replay(c.bank); !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Logs that are cut, or say more than is there, are refused with the place.
func TestParseRefuses(t *testing.T) {
	good := logtest.New(eventlog.SHA1, eventlog.SHA256).Data(4, eventlog.EFIAction, []byte("Calling")).Bytes()
	const header = 32 // until the spec ID
	edit := func(change func([]byte) []byte) []byte { return change(slices.Clone(good)) }
	put := func(at int, b ...byte) []byte {
		return edit(func(raw []byte) []byte { copy(raw[at:], b); return raw })
	}
	size := len(logtest.New(eventlog.SHA1, eventlog.SHA256).Bytes())
	two := []eventlog.Digest{{Bank: eventlog.SHA1, Value: make([]byte, 20)}, {Bank: eventlog.SHA1, Value: make([]byte, 20)}}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"nothing", nil, "header is cut off"},
		{"too much", make([]byte, eventlog.MaxSize+1), "more than"},
		{"SHA-1 only, as of TPM 1.2", put(header, 'X'), "proves nothing"},
		{"another first event", put(4, 8), "proves nothing"},
		{"a PCR in the header", put(0, 1), "has a PCR or a digest"},
		{"a digest in the header", put(8, 1), "has a PCR or a digest"},
		{"another version", put(header+21, 1), "is of version 1.0.0"},
		{"words of 8 bits", put(header+23, 3), "words of 3 times"},
		{"no algorithm", put(header+24, 0), "names 0 hash algorithms"},
		{"thousands of algorithms", put(header+24, 0xff, 0xff, 0xff), "hash algorithms"},
		{"an algorithm twice", put(header+32, 4, 0, 20), "names sha1 twice"},
		{"an unknown algorithm", put(header+28, 0x99), "algorithm 0x0099 20 bytes"},
		{"another size", put(header+30, 19), "sha1 19 bytes"},
		{"a vendor's text beyond the end", put(header+36, 200), "header is cut off"},
		{"PCR 24", put(size, 24), "event 0 of the event log is of PCR 24"},
		{"more digests", put(size+8, 3), "has 3 digests"},
		{"billions of digests", put(size+8, 0xff, 0xff, 0xff, 0xff), "has 4294967295 digests"},
		{"a digest of another bank", put(size+12, 0x0c), "sha384, which the header does not name"},
		{"two digests of a bank", logtest.New(eventlog.SHA1, eventlog.SHA256).Append(eventlog.Event{Digests: two}).Bytes(), "two digests of sha1"},
		{"cut in a digest", good[:size+20], "event 0 of the event log is cut off"},
		{"data of 4 GiB", put(len(good)-11, 0xff, 0xff, 0xff, 0xff), "its data is longer"},
		{"cut in the data", good[:len(good)-1], "its data is longer"},
		{"a byte behind", append(slices.Clone(good), 0), "event 1 of the event log is cut off"},
		{"too many events", many(), "more than 8192 events"},
	} {
		_, err := eventlog.Parse(c.raw)
		var e *protocol.Error
		if !errors.As(err, &e) || e.Code != protocol.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := eventlog.Parse(good); err != nil {
		t.Error(err)
	}
}

func many() []byte {
	log := logtest.New(eventlog.SHA256)
	for range 8193 {
		log.Data(0, eventlog.NoAction, nil)
	}
	return log.Bytes()
}

// What the digest covers is said of each event; who edits the rest is not believed.
func TestBinding(t *testing.T) {
	sum := func(b string) []byte { s := sha256.Sum256([]byte(b)); return s[:] }
	wide := []byte(".\x00l\x00i\x00n\x00u\x00x\x00\x00\x00")
	variable := logtest.Variable(eventlog.Variable{Name: "Boot0001", Value: []byte("value")})
	for _, c := range []struct {
		name     string
		kind     eventlog.Type
		data     []byte
		digest   []byte
		covered  string
		binding  eventlog.Binding
		elseText string
	}{
		{"separator", eventlog.Separator, make([]byte, 4), sum("\x00\x00\x00\x00"), "\x00\x00\x00\x00", eventlog.Whole, ""},
		{"separator after an error", eventlog.Separator, make([]byte, 4), sum("\x01\x00\x00\x00"), "", eventlog.Unbound, ""},
		{"Secure Boot's variable", eventlog.EFIVariableDriverConfig, variable, sum(string(variable)), string(variable), eventlog.Whole, "Boot0001"},
		{"its value only", eventlog.EFIVariableDriverConfig, variable, sum("value"), "", eventlog.Unbound, "Boot0001"},
		{"a boot option's value", eventlog.EFIVariableBoot, variable, sum("value"), "value", eventlog.Part, "Boot0001"},
		{"a boot option, whole", eventlog.EFIVariableBoot, variable, sum(string(variable)), string(variable), eventlog.Whole, "Boot0001"},
		{"an image, though its data were hashed", eventlog.EFIBootServicesApplication, []byte("x"), sum("x"), "", eventlog.Unbound, "x"},
		{"a command of GRUB", eventlog.IPL, []byte("grub_cmd: boot\x00"), sum("boot"), "boot", eventlog.Part, "grub_cmd: boot"},
		{"a command line of GRUB", eventlog.IPL, []byte("kernel_cmdline: /linux a\x00"), sum("/linux a"), "/linux a", eventlog.Part, "kernel_cmdline: /linux a"},
		{"a file of GRUB", eventlog.IPL, []byte("(hd0)/linux\x00"), sum("its content"), "", eventlog.Unbound, "(hd0)/linux"},
		{"a name of systemd-stub", eventlog.IPL, wide, sum(".linux\x00"), ".linux\x00", eventlog.Part, ".linux"},
		{"a section of systemd-stub", eventlog.IPL, wide, sum("its content"), "", eventlog.Unbound, ".linux"},
		{"a command line of systemd-stub", eventlog.IPL, wide, sum(string(wide)), string(wide), eventlog.Whole, ".linux"},
		{"an initrd of Linux", eventlog.EventTag, []byte("\xec\x22\x3b\x8f\x0d\x00\x00\x00Linux initrd\x00"), sum("its content"), "", eventlog.Unbound, "Linux initrd"},
		{"what was not extended", eventlog.NoAction, []byte("x"), sum("x"), "", eventlog.Unbound, "x"},
	} {
		e := eventlog.Event{PCR: 4, Type: c.kind, Data: c.data, Digests: []eventlog.Digest{{Bank: eventlog.SHA256, Value: c.digest}}}
		covered, binding := e.Binding(eventlog.SHA256)
		if string(covered) != c.covered || binding != c.binding {
			t.Errorf("%s: %q is %s, want %q %s", c.name, covered, binding, c.covered, c.binding)
		}
		if text := e.Text(); c.elseText != "" && text != c.elseText {
			t.Errorf("%s: text %q", c.name, text)
		}
		if _, binding := e.Binding(eventlog.SHA1); binding != eventlog.Unbound {
			t.Errorf("%s: SHA-1 is %s", c.name, binding)
		}
	}
}

// Texts for people have no control characters, and an end.
func TestText(t *testing.T) {
	for data, want := range map[string]string{
		"a\x1b[2Jb\nc":            "a\ufffd[2Jb\ufffdc",
		"\xff\xfe":                "\ufffd\ufffd",
		strings.Repeat("é", 1000): strings.Repeat("é", 256),
	} {
		if got := (eventlog.Event{Type: eventlog.EFIAction, Data: []byte(data)}).Text(); got != want {
			t.Errorf("%q: %q", data, got)
		}
	}
}

// Device paths and boot options of real firmware.
func TestDecode(t *testing.T) {
	raw, _ := logtest.Recorded(t, logtest.Unified)
	log, err := eventlog.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	const disk = `Acpi(0xa0341d0,0x0)/Pci(0x1f,0x2)/Path(3,18)/\EFI\BOOT\BOOTX64.EFI`
	if got := log.Events[24].Text(); got != disk {
		t.Errorf("the image came from %s", got)
	}
	image, ok := eventlog.ParseImage(log.Events[24].Data)
	if !ok || image.Size == 0 {
		t.Errorf("image %+v, %v", image, ok)
	}
	v, ok := eventlog.ParseVariable(log.Events[13].Data)
	option, is := eventlog.ParseBootOption(v.Value)
	if !ok || !is || v.Name != "Boot0003" || option.Description != "EFI Internal Shell" || !option.Active || !strings.Contains(eventlog.PathText(option.Path), "FvFile(7c04a583-9e3e-4f1c-ad65-e05268d0b4d1)") {
		t.Errorf("%q %+v %s", v.Name, option, eventlog.PathText(option.Path))
	}
	for _, c := range []struct{ path, want string }{
		{"\x03\x18\x0e\x00http://[::]\x7f\xff\x04\x00", "Uri(http://[::"},
		{"\x03\x0b\x25\x00\x52\x54\x00\x12\x34\x56" + strings.Repeat("\x00", 27), "MAC(525400123456)"},
		{"\x03\x0c\x1b\x00\x00\x00\x00\x00\x0a\x00\x00\x01" + strings.Repeat("\x00", 15), "IPv4(10.0.0.1)"},
		{"\x01\x01\x06\x00\x02\x01\x01\x01\x03\x00", "Pci(0x1,0x2)/?"},
		{"\x01\x01\xff\xff\x02\x01", "?"},
		{strings.Repeat("\x05\x05\x04\x00", 100), strings.TrimSuffix(strings.Repeat("Path(5,5)/", 64), "/")},
	} {
		if got := eventlog.PathText([]byte(c.path)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s, want %s", c.path, got, c.want)
		}
	}
	for name, data := range map[string][]byte{
		"cut":             make([]byte, 31),
		"a name too long": binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(make([]byte, 16), 1<<40), 0),
		"a value cut":     logtest.Variable(eventlog.Variable{Name: "x", Value: []byte("12")})[:35],
		"a byte behind":   append(logtest.Variable(eventlog.Variable{Name: "x"}), 0),
	} {
		if v, ok := eventlog.ParseVariable(data); ok {
			t.Errorf("%s: %+v", name, v)
		}
	}
	for name, data := range map[string][]byte{"cut": {1, 0, 0, 0, 0}, "no end of its name": bytes.Repeat([]byte{1}, 1000), "a path cut": {1, 0, 0, 0, 9, 0, 'x', 0, 0, 0}} {
		if o, ok := eventlog.ParseBootOption(data); ok {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// FuzzParse: whatever parses, is in the log to its last byte, and nothing that reads it fails.
func FuzzParse(f *testing.F) {
	for _, name := range []string{logtest.Unified, logtest.ShimGRUB} {
		raw, _ := logtest.Recorded(f, name)
		f.Add(raw)
	}
	f.Add(logtest.New(eventlog.SHA1, eventlog.SHA384).Data(0, eventlog.NoAction, []byte("StartupLocality\x00\x03")).Data(9, eventlog.EventTag, []byte("12345678")).Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		log, err := eventlog.Parse(raw)
		if err != nil {
			return
		}
		again := &logtest.Log{}
		again.Append(log.Events...)
		if rest := raw[len(raw)-len(again.Bytes()):]; len(log.Events) > 0 && !slices.ContainsFunc(log.Events, func(e eventlog.Event) bool { return e.Type == eventlog.NoAction }) && !bytes.Equal(rest, again.Bytes()) {
			t.Error("the events are not those of the log")
		}
		for _, bank := range log.Banks {
			values, err := log.Replay(bank)
			for _, v := range values {
				if err == nil && len(v) != bank.Size() {
					t.Errorf("%s: a value of %d bytes", bank, len(v))
				}
			}
			for _, e := range log.Events {
				covered, b := e.Binding(bank)
				if (b == eventlog.Unbound) != (covered == nil) {
					t.Errorf("%s: %q covered, %s", e.Type, covered, b)
				}
				_ = e.Text()
				if v, ok := eventlog.ParseVariable(e.Data); ok {
					_, _ = eventlog.ParseBootOption(v.Value)
					_, _ = eventlog.ParseSignatures(v.Value)
				}
			}
		}
	})
}
