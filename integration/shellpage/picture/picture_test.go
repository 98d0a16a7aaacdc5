package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDraw: what a terminal shows at last, not what went over the wire.
func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		want   []string
	}{
		"lines":         {"a  b\r\n\r\nc\r\n", []string{"a  b", "", "c"}},
		"colours":       {"\x1b[31mred\x1b[0m plain", []string{"red plain"}},
		"written over":  {"12 %\r99 %\r\n", []string{"99 %"}},
		"wide":          {"日本 x", []string{"日本 x"}},
		"a long line":   {"0123456789abc", []string{"0123456789", "abc"}},
		"nothing":       {"", nil},
		"a question":    {"\x1b[cx\x1b[6n", []string{"x"}},
		"a title":       {"\x1b]0;evil\x07x", []string{"x"}},
		"beyond bounds": {"\x1b[999;999Hx", []string{}},
	} {
		got := lines([]byte(c.screen), 10)
		if name == "beyond bounds" {
			if len(got) > maxLines {
				t.Errorf("%d lines", len(got))
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// lines are what the lines of a screen say, without colours.
func lines(screen []byte, columns int) (out []string) {
	for _, l := range draw(screen, columns) {
		var b strings.Builder
		at := 0
		for _, r := range l {
			b.WriteString(strings.Repeat(" ", r.at-at) + r.text)
			at = r.at + r.cells
		}
		out = append(out, b.String())
	}
	return out
}

// TestHead: what is the same each day is compared, and what is not is not.
func TestHead(t *testing.T) {
	head := func(command, screen string) string {
		t.Helper()
		got, err := Head(SVG(command, []byte(screen), 80))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	table := head("rackctl get x", "NAME  AGE\r\na  1s\r\n")
	for name, c := range map[string]struct {
		other string
		same  bool
	}{
		"other rows, wider":  {head("rackctl get x", "NAME     AGE\r\nlonger   7d\r\nb  2s\r\n"), true},
		"coloured":           {head("rackctl get x", "\x1b[1mNAME\x1b[0m  AGE\r\n"), true},
		"a column more":      {head("rackctl get x", "NAME  RACK  AGE\r\n"), false},
		"another command":    {head("rackctl get y", "NAME  AGE\r\n"), false},
		"nothing, with this": {"", false},
	} {
		if (table == c.other) != c.same {
			t.Errorf("%s: %q and %q", name, table, c.other)
		}
	}
	if head("x", "at 12:30:01Z done") != head("x", "at 13:00:59Z done") {
		t.Error("a time makes another picture")
	}
	for _, bad := range []string{"", "<svg/>", "<svg", "PNG"} {
		if h, err := Head([]byte(bad)); err == nil {
			t.Errorf("%q is the picture of %q", bad, h)
		}
	}
}

// TestSVG: each character at its column, in its colour, and no markup out of what a command wrote.
func TestSVG(t *testing.T) {
	got := string(SVG("rackctl get <x>", []byte("NAME  \x1b[32mOn\x1b[0m <b>&\r\n"), 80))
	for _, want := range []string{
		"<title>rackctl get &lt;x&gt;</title>",
		`<tspan x="16.0" textLength="33.6" fill="` + ink + `">NAME</tspan>`,
		`<tspan x="66.4" textLength="16.8"`,
		`&lt;b&gt;&amp;</tspan>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, `fill="`+ink+`">On<`) {
		t.Error("a colour is lost")
	}
}

// FuzzSVG: whatever was written is XML that can be read. A count of millions in a control sequence takes the
// emulator seconds; our own programs, which alone are drawn, write none.
func FuzzSVG(f *testing.F) {
	f.Add("rackctl get servers", []byte("a\x1b[1;31mb\x00\xff<"))
	f.Add("\x00", []byte("\x1b[?1049h\x1b[2J\x1b[5;5Hx"))
	count := regexp.MustCompile("[0-9]{5}")
	f.Fuzz(func(t *testing.T, command string, screen []byte) {
		if count.Match(screen) {
			return
		}
		d := xml.NewDecoder(bytes.NewReader(SVG(command, screen, 40)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}
