package chain

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var update = flag.Bool("update", false, "write the golden files")

const attempt = "0123456789abcdef0123456789abcdef"

func TestRender(t *testing.T) {
	for _, row := range []struct {
		name, base, line string
		render           func(protocol.BootChain, string, string) string
	}{
		{"plain.cfg", "http://10.20.0.2:8080", "console=ttyS0,115200 ip=dhcp quiet", Config},
		{"tls.cfg", "https://[2001:db8::2]:8443", "", Config},
		{"shell.cfg", "http://10.20.0.2", "a=$root b=;reboot c={x} d=|e #f  g=&h", Config},
		{"plain.ipxe", "http://10.20.0.2:8080", "console=ttyS0,115200 ip=dhcp quiet", Script},
		{"empty.ipxe", "http://10.20.0.2", "", Script},
	} {
		c := protocol.BootChain{Kind: protocol.ChainGRUB, CommandLine: row.line}
		got := row.render(c, row.base, attempt)
		path := filepath.Join("testdata", row.name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v):\n%s", row.name, err, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for line, want := range map[string]bool{
		"": true, "console=ttyS0 ro": true, "a=$b c;d |": true,
		`a="b c"`: false, "a='b'": false, `a\x2db`: false, "a=${net0/ip}": false, "a || b": false, "a && b": false, "a ; b": false,
	} {
		if got := plain(line); got != want {
			t.Errorf("plain(%q) = %t", line, got)
		}
	}
}

// unquote reads a line of GRUB script that has nothing but single-quoted words, by the
// rules of the manual; ok is false where something would be left to the shell.
func unquote(line string) (words []string, ok bool) {
	for line != "" {
		line = strings.TrimPrefix(line, " ")
		if !strings.HasPrefix(line, "'") {
			return nil, false
		}
		word, rest, closed := strings.Cut(line[1:], "'")
		if !closed || rest != "" && rest[0] != ' ' {
			return nil, false
		}
		words, line = append(words, word), rest
	}
	return words, true
}

// FuzzRender: whatever command line is plain and passes the check comes to the kernel
// word by word, and no line of it becomes one of the script.
func FuzzRender(f *testing.F) {
	for _, line := range []string{"", "console=ttyS0", "a=$b ;c", "}; fi; reboot", "# x", "a||b &&c", "-- init=/x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if resource.CheckCommandLine(line) != nil || !plain(line) {
			return
		}
		const base = "http://10.20.0.2"
		c := protocol.BootChain{CommandLine: line}
		want := append(strings.Fields(line), ArgumentURL+"="+base+"/b/"+attempt+"/")
		linux := strings.Split(Config(c, base, attempt), "\n")[1]
		args, ok := strings.CutPrefix(linux, "if linux ")
		args, ok2 := strings.CutSuffix(args, "; then")
		words, ok3 := unquote(args)
		if !ok || !ok2 || !ok3 || strings.Join(words[1:], "\n") != strings.Join(want, "\n") {
			t.Errorf("%q came as %q (%s)", line, words, linux)
		}
		if n := strings.Count(Config(c, base, attempt), "\n"); n != 8 {
			t.Errorf("%q makes a configuration of %d lines", line, n)
		}
		script := Script(c, base, attempt)
		kernel := strings.Split(script, "\n")[3]
		if !strings.HasSuffix(kernel, " initrd=initrd "+strings.Join(want, " ")+" || goto failed") || strings.Count(script, "\n") != 9 {
			t.Errorf("%q makes the script\n%s", line, script)
		}
	})
}

// FuzzKernelArgs: what people may add to a command line is never what makes loaders change
// it, so that it is refused where it is written and not when the server boots.
func FuzzKernelArgs(f *testing.F) {
	for _, args := range []string{"", "console=ttyS0 quiet", "a=${b}", "a || b", "a\t&&\tb", `a"b`, "rackboot.url=x", "initrd=x"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if resource.CheckKernelArgs(args) != nil {
			return
		}
		if !plain(args) {
			t.Errorf("%q is accepted, and changed by loaders", args)
		}
		for w := range strings.FieldsSeq(args) {
			if strings.HasPrefix(w, ArgumentURL) || strings.HasPrefix(w, "initrd=") {
				t.Errorf("%q takes the place of what the agent gives", w)
			}
		}
	})
}
