package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestSecretsOfTheFile(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"none", "", ""},
		{"a file", "secrets: {keyFile: /k}\n", ""},
		{"a variable", "secrets: {keyEnv: RACKBOOT_KEY}\n", ""},
		{"a command", "secrets: {keyCommand: [vault, kv, get, key]}\n", ""},
		{"while rotating", "secrets: {keyFile: /k, previous: [{keyFile: /old}, {keyEnv: OLD}]}\n", ""},
		{"two", "secrets: {keyFile: /k, keyEnv: K}\n", "exactly one"},
		{"only an old one", "secrets: {previous: [{keyFile: /old}]}\n", "secrets.previous"},
		{"an old one of two places", "secrets: {keyFile: /k, previous: [{keyFile: /old, keyEnv: OLD}]}\n", "secrets.previous[0]"},
		{"an old one of none", "secrets: {keyFile: /k, previous: [{}]}\n", "secrets.previous[0]"},
		{"the key itself", "secrets: {key: x}\n", "key"},
		{"a command line", "secrets: {keyCommand: vault kv get key}\n", "keyCommand"},
	} {
		path := filepath.Join(t.TempDir(), "hub.yaml")
		if err := os.WriteFile(path, []byte(goodConfig+row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadConfig(path)
		if row.want == "" && err != nil || row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
