package ignition

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_0"
	"github.com/coreos/ignition/v2/config/v3_1"
	"github.com/google/go-cmp/cmp"
)

// conformance is what testdata/stubs has: every shape that is taken. Each result is valid
// for the library of exactly its specification, and means what the stub meant.
func conformance() map[string]struct {
	from   string
	places map[string]string // of filesystems, see means2
	only31 bool              // has no words in 3.0.0
	lost   []string          // paths
} {
	type row = struct {
		from   string
		places map[string]string
		only31 bool
		lost   []string
	}
	return map[string]row{
		"1-root-files":               {"1", map[string]string{"/dev/disk/by-label/ROOT": "/"}, false, nil},
		"2.0-first":                  {"2.0.0", nil, false, nil},
		"2.0-replace":                {"2.0.0", nil, false, nil},
		"2.0-no-password":            {"2.0.0", nil, false, nil},
		"2.1-unnamed-partitions":     {"2.1.0", nil, false, nil},
		"2.4-no-modes":               {"2.4.0", nil, false, nil},
		"2.1-links":                  {"2.1.0", nil, false, nil}, // facts §2.3.2: /etc/foobar is not below the link /etc/foo
		"2.2-var":                    {"2.2.0", map[string]string{"var": "/var"}, false, nil},
		"2.2-append-and-authorities": {"2.2.0", nil, false, nil}, // facts §2.3.1: several of each
		"2.2-append-to-files":        {"2.2.0", nil, false, nil},
		"2.3-partitions":             {"2.3.0", nil, false, nil},
		"2.4-proxy-and-headers":      {"2.4.0", nil, true, nil},
		"2.4-included":               {"2.4.0", nil, false, nil},
		"2.4-units":                  {"2.4.0", nil, false, nil},
		"2.4-raid":                   {"2.4.0", nil, false, nil},
		"2.4-sysroot":                {"2.4.0", map[string]string{"usr": "/usr/local"}, false, nil},
		"2.4-losses": {"2.4.0", nil, false, []string{
			"$.ignition", "$.storage.files[1]", "$.storage.filesystems[0].mount", "$.storage.filesystems[1].mount.create",
			"$.storage.files[1].mode", "$.storage.directories[0].mode", "$.storage.files[0].filesystem", "$.passwd.users[0].create",
		}}, // facts §2.3.3
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stubs/*.json")
	if err != nil || len(files) != len(conformance()) {
		t.Fatalf("%d stubs, %v; the table has %d", len(files), err, len(conformance()))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		row, ok := conformance()[name]
		if !ok {
			t.Errorf("%s is in no row", file)
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := means2(t, raw, row.places)
		for _, max := range append([]string{""}, versions3...) {
			o := TranslateOptions{Max: max, AcceptLoss: true}
			out, err := Translate(raw, o)
			if max == "3.0.0" && row.only31 {
				if r := refusalOf(err); r == nil || r.Class != TooNew || r.Path == "$" {
					t.Errorf("%s for 3.0.0: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s for %q: %v", name, max, err)
				continue
			}
			to := "3.1.0"
			if max == "3.0.0" {
				to = max
			}
			if out.From != row.from || out.To != to || !out.Changed {
				t.Errorf("%s for %q: from %s to %s", name, max, out.From, out.To)
			}
			strictlyValid(t, name, out)
			if d := cmp.Diff(want, means3(t, out.Config)); d != "" {
				t.Errorf("%s for %q means something else:\n%s", name, max, d)
			}
			if got := lostPaths(out.Lost); !slices.Equal(got, row.lost) {
				t.Errorf("%s: lost %q, want %q", name, got, row.lost)
			}
		}
		if _, err := Translate(raw, TranslateOptions{}); (err == nil) != (row.lost == nil) {
			t.Errorf("%s without consent to lose: %v", name, err)
		} else if err != nil && !slices.Equal(lostPaths(refusalOf(err).Lost), row.lost) {
			t.Errorf("%s: %v", name, refusalOf(err).Lost)
		}
	}
}

// strictlyValid: the library of the very specification has nothing against the result,
// and knows all of it.
func strictlyValid(t *testing.T, name string, out Translated) {
	t.Helper()
	var entries []string
	var err error
	if out.To == "3.0.0" {
		_, r, e := v3_0.Parse(out.Config)
		err = e
		for _, e := range r.Entries {
			entries = append(entries, e.String())
		}
	} else {
		_, r, e := v3_1.Parse(out.Config)
		err = e
		for _, e := range r.Entries {
			entries = append(entries, e.String())
		}
	}
	entries = slices.DeleteFunc(entries, func(s string) bool { return strings.Contains(s, "insecure plaintext connection") })
	if err != nil || len(entries) > 0 {
		t.Errorf("%s: %v %q: %s", name, err, entries, out.Config)
	}
}

func lostPaths(lost []Loss) (out []string) {
	for _, l := range lost {
		out = append(out, l.Path)
	}
	return out
}

func refusalOf(err error) *Refusal {
	r, _ := errors.AsType[*Refusal](err)
	return r
}

// The comparison sees each part of a configuration: whatever is taken out of a result
// makes it mean something else.
func TestMeaningSeesEverything(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stubs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Translate(raw, TranslateOptions{AcceptLoss: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := means3(t, out.Config)
		root, r := parseTree(out.Config)
		if r != nil {
			t.Fatal(r)
		}
		var leaves func(n *tree, at string)
		leaves = func(n *tree, at string) {
			for i, kid := range n.kids {
				inner := at + "[" + itoa(i) + "]"
				if n.kind == object {
					inner = at + "." + n.keys[i]
				}
				if kid.kind == object || kid.kind == list {
					leaves(kid, inner)
					continue
				}
				was := *kid
				*kid = tree{kind: null, text: "null"}
				if kid.kind == null && n.kind == list {
					*kid = tree{kind: text, text: "changed"}
				}
				same := meansSame(t, whole, root.bytes())
				*kid = was
				if same && inner != "$.ignition.version" && !saysTheDefault(was, inner) {
					t.Errorf("%s: nobody sees %s", file, inner)
				}
			}
		}
		leaves(root, "$")
	}
}

// saysTheDefault: what is left out says the same there.
func saysTheDefault(n tree, at string) bool {
	switch {
	case n.kind == truth && n.text == "false":
		return strings.HasSuffix(at, ".overwrite") || strings.HasSuffix(at, ".wipeTable")
	case n.kind == text && n.text == "":
		return strings.HasSuffix(at, ".source")
	case n.kind == number:
		return strings.HasSuffix(at, ".mode") && (n.text == "420" || n.text == "493")
	}
	return false
}

func meansSame(t *testing.T, want []string, raw []byte) bool {
	return slices.Equal(want, means3(t, raw))
}
