package resource

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestCheckKernelArgs(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"", ""},
		{"console=ttyS1,115200n8 quiet", ""},
		{"a=b;c d|e f&g $h {i} j=$k", ""}, // one word each, or no replacement
		{" quiet", "space around"},
		{"quiet ", "space around"},
		{"a\nb", "byte 1 is 0x0a"},
		{"ä", "printable ASCII"},
		{strings.Repeat("a", MaxCommandLine+1), "may have 1536"},
		{`dyndbg="file a +p"`, "a quote"},
		{"it's", "a quote"},
		{`a\b`, "a backslash"},
		{"x=${net0/mac}", "${"},
		{"a || shell", "operator"},
		{"a && b", "operator"},
		{"a ; b", "operator"},
		{"rackboot.url=http://evil/", "is the agent's to give"},
		{"quiet rackboot.x", "is the agent's to give"},
		{"initrd=other", "boot loader's"},
		{"myrackboot.url=1 noinitrd", ""},
	} {
		err := CheckKernelArgs(row.args)
		if (err == nil) != (row.want == "") || err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%q: %v, want %q", row.args, err, row.want)
		}
	}
	if got := JoinKernelArgs("", "a b", "", "c"); got != "a b c" {
		t.Errorf("joined %q", got)
	}
}
