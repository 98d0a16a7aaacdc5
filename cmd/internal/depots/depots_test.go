package depots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"rackboot/protocol"
)

func TestSplit(t *testing.T) {
	folder := func(path string) bool { return path == "/srv/copies" || path == "." }
	for what, want := range map[string][2]string{
		"/srv/copies": {"/srv/copies", ""}, "/srv/copies/a.backup": {"/srv/copies", "a.backup"}, "a.backup": {".", "a.backup"}, ".": {".", ""},
		"s3://b": {"s3://b", ""}, "s3://b/": {"s3://b", ""}, "s3://b/a.backup": {"s3://b", "a.backup"}, "s3://b/p/q/": {"s3://b/p/q", ""}, "s3://b/p/q/a": {"s3://b/p/q", "a"},
	} {
		if where, name := split(what, folder); where != want[0] || name != want[1] {
			t.Errorf("%s: %q, %q", what, where, name)
		}
	}
}

// Keys are read from files, and are in no error.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const secret = "AGE-SECRET-KEY-1LLQD26TRP8LVZQL9JAD43AN06DKFM68EFY6MM42PAESAF7JN68YSCF54JH"
	good, bad, pass := file("good", "# of the vault\n"+secret+"\n"), file("bad", secret[:30]+"\n"), file("pass", "sixteen bytes or more\n")
	for _, row := range []struct {
		args []string
		n    int
		want protocol.Code
	}{
		{nil, 0, ""},
		{[]string{"--identity", good}, 1, ""},
		{[]string{"--identity", good, "--passphrase-file", pass}, 2, ""},
		{[]string{"--identity", bad}, 0, protocol.CodeInvalid},
		{[]string{"--identity", filepath.Join(dir, "no")}, 0, protocol.CodeNotFound},
		{[]string{"--passphrase-file", file("short", "short")}, 0, protocol.CodeInvalid},
		{[]string{"--identity", file("long", strings.Repeat("#", maxKeys+1))}, 0, protocol.CodeInvalid},
	} {
		var k Keys
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		k.Flags(f)
		if err := f.Parse(row.args); err != nil {
			t.Fatal(err)
		}
		keys, err := k.Read()
		if len(keys) != row.n || protocol.CodeOf(err) != row.want || err != nil && strings.Contains(err.Error(), "AGE-SECRET") {
			t.Errorf("%q: %d keys, %v", row.args, len(keys), err)
		}
	}
}
