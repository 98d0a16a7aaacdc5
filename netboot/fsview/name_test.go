package fsview

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"rackboot/protocol"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		".":                                      "",
		"a":                                      "",
		"EFI/BOOT/grub.cfg-01-aa-bb-cc-dd-ee-ff": "",
		"boot/über/…":                            "",
		"...":                                    "",
		"a/..b/c..":                              "",
		"":                                       "empty",
		"/":                                      "absolute",
		"/a":                                     "absolute",
		"//a":                                    "absolute",
		"a//b":                                   "empty parts",
		"a/":                                     "empty parts",
		"./a":                                    "empty parts",
		"a/./b":                                  "empty parts",
		"a/.":                                    "empty parts",
		"..":                                     "upwards",
		"../a":                                   "upwards",
		"a/../b":                                 "upwards",
		"a//../b":                                "upwards",
		"a/..":                                   "upwards",
		`a\b`:                                    "backslash",
		`..\a`:                                   "backslash",
		"a\x00":                                  "NUL",
		"a\xff":                                  "UTF-8",
		strings.Repeat("a", 1024):                "",
		strings.Repeat("a", 1025):                "longer",
		strings.Repeat("a/", 63) + "a":           "",
		strings.Repeat("a/", 64) + "a":           "deeper",
		strings.Repeat("\x00", 2000):             "longer",
	} {
		err := checkName(name)
		if want == "" {
			if err != nil || !fs.ValidPath(name) {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || protocol.CodeOf(err) != protocol.CodeInvalid || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "\x00") || !utf8.ValidString(err.Error()) || len(err.Error()) > 1000) {
			t.Errorf("%q: the error is not fit for a log: %q", name, err)
		}
	}
}

// FuzzName: what is let through is a path that the standard library takes, and stays in
// a view of files that all have the name.
func FuzzName(f *testing.F) {
	for _, s := range []string{".", "a/b", "../a", "a//b", `a\b`, "a\x00b", "links/x", "links/y/z", strings.Repeat("a/", 70)} {
		f.Add(s)
	}
	files, err := Memory{"a/b": []byte("1"), "links/f": []byte("2")}.FS(noon)
	if err != nil {
		f.Fatal(err)
	}
	v, err := New([]Mount{{FS: files}, {Links: Links{"links/x": "a", "c": "links"}, Origin: "links"}, {At: "a/m", FS: files, Fold: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		bad := checkName(name) != nil
		if !bad && !fs.ValidPath(name) {
			t.Errorf("%q is let through", name)
		}
		file, err := v.Open(name)
		if err != nil {
			if code := protocol.CodeOf(err); (code == protocol.CodeInvalid) != bad || !bad && code != protocol.CodeNotFound {
				t.Errorf("%q: %v", name, err)
			}
			return
		}
		defer file.Close()
		if bad {
			t.Errorf("%q is opened", name)
		}
		if _, err := v.Stat(name); err != nil {
			t.Errorf("%q is opened, and %v", name, err)
		}
	})
}
