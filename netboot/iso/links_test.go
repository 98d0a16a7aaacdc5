package iso_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

// TestLinks: links stay inside, and end.
func TestLinks(t *testing.T) {
	const outside, absent = "out of the image", "which is not there"
	for _, row := range []struct {
		target string
		want   string // in the error; empty if it is found
	}{
		{"../file", ""},
		{"../dir/../file", ""},
		{"./.././file", ""},
		{"../self/self/file", ""},
		{"..//file", ""},
		{"../../file", outside},
		{"../../../../etc/passwd", outside},
		{"/file", outside}, // SL with ROOT: of the system, not of the image
		{"/", outside},
		{"nothing", absent},
		{"../file/x", absent},
		{"link", "more than 40 links"},
		{"../dir/link/link", "more than 40 links"},
		{strings.Repeat("self/", 39) + "../file", absent}, // self is in the root
		{"../" + strings.Repeat("self/", 39) + "file", ""},
		{"../" + strings.Repeat("self/", 40) + "file", "more than 40 links"},
		{"../" + strings.Repeat("x", 200), absent},
		{strings.Repeat("../dir/", 800), "more than 4096 bytes"},
	} {
		v := open(t, isotest.Tree{RockRidge: true, Entries: []isotest.Entry{
			{Path: "file", Content: []byte("x")}, {Path: "self", Link: "."}, {Path: "dir/link", Link: row.target},
		}}.Bytes())
		got, err := fs.ReadFile(v, "dir/link")
		name := row.target[:min(len(row.target), 40)]
		switch {
		case row.want == "" && (err != nil || string(got) != "x"):
			t.Errorf("%q: %q, %v", name, got, err)
		case row.want == absent && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `the link "link" leads to`)):
			t.Errorf("%q: %v", name, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%q: %v, want %q", name, err, row.want)
		case row.want == outside && protocol.CodeOf(err) != protocol.CodeInvalid:
			t.Errorf("%q: code %s", name, protocol.CodeOf(err))
		}
		if len(row.target) > 4000 {
			continue
		}
		if target, err := v.ReadLink("dir/link"); err != nil || strings.ReplaceAll(target, "//", "/") != strings.ReplaceAll(strings.TrimSuffix(row.target, "/"), "//", "/") && target != row.target {
			t.Errorf("%q: the target is %q, %v", name, target, err)
		}
	}
}

// TestLinkParts are components with flags that xorriso does not write (RRIP 4.1.3).
func TestLinkParts(t *testing.T) {
	for name, row := range map[string]struct{ use, want string }{
		"a part in two":         {"SL\x09\x01\x01\x01\x02ab" + "SL\x09\x01\x00\x00\x02cd", "abcd"},
		"another host":          {"SL\x07\x01\x00\x20\x00", "/"},
		"the root of a volume":  {"SL\x0b\x01\x00\x10\x00\x00\x02ab", "/ab"},
		"the root in between":   {"SL\x0f\x01\x00\x00\x02ab\x08\x00\x00\x02cd", "/cd"},
		"a length beyond":       {"SL\x0d\x01\x00\x00\x02ab\x00\xffcd", "ab"},
		"nothing":               {"SL\x05\x01\x00", ""},
		"an entry of no length": {"SL\x04\x01", ""},
	} {
		v := open(t, isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "link", Mode: 0o120777, Use: []byte(row.use)}}}.Bytes())
		if got, err := v.ReadLink("link"); err != nil || got != row.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	v := open(t, tree(true, false).Bytes())
	for _, name := range []string{"pool", "pool/001.deb", "a/b/c/d/e/f/g/deep"} {
		if _, err := v.ReadLink(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s is no link: %v", name, err)
		}
	}
}
