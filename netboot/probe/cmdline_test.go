package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	for _, row := range []struct {
		line string
		want map[string]string
	}{
		{"BOOT_IMAGE=/vmlinuz quiet rackboot.url=http://10.7.0.1/b/t/\n", map[string]string{"BOOT_IMAGE": "/vmlinuz", "quiet": "", "rackboot.url": "http://10.7.0.1/b/t/"}},
		{"a=1 a=2", map[string]string{"a": "2"}},
		{`a="b c" d`, map[string]string{"a": "b c", "d": ""}},
		{`"a=b c" d`, map[string]string{"a": "b c", "d": ""}},
		{`a=b"c d"e`, map[string]string{"a": `b"c d"e`}},
		{`a="b`, map[string]string{"a": "b"}},
		{"a -- rackboot.url=x", map[string]string{"a": ""}},
		{"=x a==y", map[string]string{"a": "=y"}},
		{"\t a\v\fb \n", map[string]string{"a": "", "b": ""}},
		{"", map[string]string{}},
	} {
		if diff := cmp.Diff(row.want, arguments(row.line)); diff != "" {
			t.Errorf("%q: %s", row.line, diff)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{"a=b c", `a="b c"`, `"a=b c" -- d`, "=", "\"", "a\x00=b", strings.Repeat(" ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for name, value := range arguments(line) {
			if name == "" || !strings.Contains(line, name) || !strings.Contains(line, value) {
				t.Errorf("%q gives %q=%q", line, name, value)
			}
		}
	})
}
