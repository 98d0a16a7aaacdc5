package ignition

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestGoal(t *testing.T) {
	t.Parallel()
	doctable.Of(t, "goal.go", "goal").HoldOne(t, [][]string{{"1", "2", "3"}, {"2", "3.0.0", "3.1.0", "3.6.0"}, doctable.YesNo()}, func(in []string) string {
		return goal(in[0], in[1], in[2] == "yes")
	})
}

// Every version against every image: facts boot-images §2.4, §5 row 14. What an image
// reads already stays byte for byte as it is, unknown fields and spaces too.
func TestEveryPair(t *testing.T) {
	t.Parallel()
	order := []string{"1", "2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0"}
	for i, from := range order {
		raw := " { \"ignition\": {\"version\": \"" + from + "\"}\n}\n"
		switch {
		case i == 0:
			raw = "{\"ignitionVersion\": 1 }\n"
		case i > 5:
			raw = strings.Replace(raw, "\n", ",\"passwd\":{},\"remark\":\"kept\"\n", 1)
		}
		for j, max := range order[1:] {
			j++
			out, err := Translate([]byte(raw), TranslateOptions{Max: max})
			kept := i <= j && (i > 5 || j <= 5)
			switch {
			case i > j:
				if r := refusalOf(err); r == nil || r.Class != TooNew {
					t.Errorf("%s for %s: %v", from, max, err)
				}
			case err != nil:
				t.Errorf("%s for %s: %v", from, max, err)
			case kept && (out.Changed || string(out.Config) != raw || out.To != from):
				t.Errorf("%s for %s: %+v", from, max, out)
			case !kept && (!out.Changed || out.To != order[min(j, 7)] || out.From != from):
				t.Errorf("%s for %s became %s", from, max, out.To)
			}
		}
	}
	if _, err := Translate([]byte(`{}`), TranslateOptions{Max: "3.9.0"}); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "3.9.0") {
		t.Error(err)
	}
}

func TestTranslateButane(t *testing.T) {
	t.Parallel()
	const butane = "variant: fcos\nversion: 1.4.0\nsystemd:\n  units:\n    - name: a.service\n      enabled: true\n"
	out, err := Translate([]byte(butane), TranslateOptions{Max: "3.3.0"})
	if err != nil || !out.Changed || out.From != "3.3.0" || out.To != "3.3.0" || !bytes.Contains(out.Config, []byte("a.service")) {
		t.Error(out, err)
	}
	if _, err = Translate([]byte(butane), TranslateOptions{Max: "3.2.0"}); refusalOf(err) == nil || refusalOf(err).Class != TooNew {
		t.Error(err)
	}
}

// A translation does not depend on what was translated before, or is at the same time:
// facts boot-images §2.3.4.
func TestTranslateTwice(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/stubs/2.2-var.json")
	if err != nil {
		t.Fatal(err)
	}
	first, err := Translate(raw, TranslateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan []byte)
	for range 4 {
		go func() {
			again, _ := Translate(raw, TranslateOptions{})
			results <- again.Config
		}()
	}
	for range 4 {
		if got := <-results; !bytes.Equal(got, first.Config) {
			t.Errorf("%s is not %s", got, first.Config)
		}
	}
	if again, err := Translate(first.Config, TranslateOptions{}); err != nil || again.Changed {
		t.Error("a result is no result of itself", err)
	}
}

// Where a filesystem of a name lies is only taken from one mount unit that is for it.
func TestMountPoint(t *testing.T) {
	t.Parallel()
	unit := func(what, where string) string {
		return `{"name":"x.mount","contents":"[Unit]\nWhat=/dev/no\n[Mount]\nWhat=/dev/earlier\nWhat = ` + what + `\nWhere=` + where + `\n[Install]\nWhere=/no\n"}`
	}
	for _, row := range []struct{ name, units, want string }{
		{"its device", unit("/dev/sdb", "/srv/"), "/srv"},
		{"its label", unit("LABEL=L", "/srv"), "/srv"},
		{"its label's link", unit("/dev/disk/by-label/L", "/srv"), "/srv"},
		{"its UUID", unit("UUID=U", "/srv"), "/srv"},
		{"its UUID's link", unit("/dev/disk/by-uuid/U", "/srv"), "/srv"},
		{"another device", unit("/dev/sdc", "/srv"), ""},
		{"the root of the tree", unit("/dev/sdb", "/"), ""},
		{"a relative place", unit("/dev/sdb", "srv"), ""},
		{"a masked unit", strings.Replace(unit("/dev/sdb", "/srv"), `"name"`, `"mask":true,"name"`, 1), ""},
		{"another kind of unit", strings.Replace(unit("/dev/sdb", "/srv"), "x.mount", "x.service", 1), ""},
		{"two places", unit("/dev/sdb", "/srv") + "," + strings.Replace(unit("/dev/sdb", "/opt"), "x.mount", "y.mount", 1), ""},
	} {
		out, err := Translate([]byte(in2("2.4.0", `,"storage":{"filesystems":[{"name":"f","mount":{"device":"/dev/sdb","format":"ext4","label":"L","uuid":"U"}}],"files":[{"filesystem":"f","path":"/a"}]},"systemd":{"units":[`+row.units+`]}`)), TranslateOptions{})
		if row.want == "" {
			if r := refusalOf(err); r == nil || r.Class != NoFilesystem {
				t.Errorf("%s: %s, %v", row.name, out.Config, err)
			}
			continue
		}
		if err != nil || !bytes.Contains(out.Config, []byte(`"path":"`+row.want+`"`)) || !bytes.Contains(out.Config, []byte(`"path":"`+row.want+`/a"`)) {
			t.Errorf("%s: %s, %v", row.name, out.Config, err)
		}
	}
}

func TestTranslateTooLong(t *testing.T) {
	t.Parallel()
	long := []byte(in2("2.2.0", `,"systemd":{"units":[{"name":"a.service","contents":"[Unit]\nDescription=`+strings.Repeat("x", maxBytes)+`"}]}`))
	if _, err := Translate(long, TranslateOptions{}); refusalOf(err) == nil || !strings.Contains(err.Error(), "longer") {
		t.Error(err)
	}
}

// FuzzTranslate: nobody panics; a result is valid, is its own translation, and reads what
// was asked for; a refusal has a known class and a path.
func FuzzTranslate(f *testing.F) {
	for name := range conformance() {
		raw, err := os.ReadFile("testdata/stubs/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, byte(len(name)))
	}
	for _, s := range []string{`[1]`, `null`, `"x"`, `{}`, `{"ignition":[]}`, `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"data:;base64,e30="}]}}}`, "variant: fcos\nversion: 1.5.0\n", includingOf("2.4.0", "append", "[]")} {
		f.Add([]byte(s), byte(0))
	}
	known := map[Class]bool{}
	for _, c := range classes {
		known[c] = true
	}
	f.Fuzz(func(t *testing.T, raw []byte, options byte) {
		max := append(versions2, versions3...)[int(options>>1)%12]
		out, err := Translate(raw, TranslateOptions{Max: max, AcceptLoss: options&1 == 0})
		if err != nil {
			if r := refusalOf(err); r == nil || !known[r.Class] || !strings.HasPrefix(r.Path, "$") || r.Message == "" {
				t.Errorf("%v", err)
			}
			return
		}
		if above(out.To, max) {
			t.Errorf("%s for %s", out.To, max)
		}
		if !out.Changed && !bytes.Equal(out.Config, raw) {
			t.Errorf("unchanged, and not the same: %q", out.Config)
		}
		again, err := Translate(out.Config, TranslateOptions{Max: max})
		if err != nil || again.Changed {
			t.Errorf("%q became %q, which is refused or becomes something else: %v", raw, out.Config, err)
		}
		if strings.HasPrefix(out.To, "3") {
			if _, errs := Check(out.Config); len(errs) > 0 {
				t.Errorf("%q became %q: %v", raw, out.Config, errs)
			}
		}
	})
}
