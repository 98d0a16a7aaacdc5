package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

// TestRegistryAccount: which files are an account; no error shows what is in one.
func TestRegistryAccount(t *testing.T) {
	const canary = "canary-5b1e"
	for _, row := range []struct {
		name, text string
		mode       os.FileMode
		want       protocol.Code
	}{
		{"name and password", "username: u\npassword: " + canary + "\n", 0o600, ""},
		{"token", "token: " + canary + "\n", 0o600, ""},
		{"both", "username: u\npassword: p\ntoken: " + canary + "\n", 0o600, protocol.CodeUnavailable},
		{"no password", "username: " + canary + "\n", 0o600, protocol.CodeUnavailable},
		{"no YAML", canary + ": [", 0o600, protocol.CodeUnavailable},
		{"something else besides", "token: t\npin: " + canary + "\n", 0o600, protocol.CodeUnavailable},
		{"others may read it", "token: " + canary + "\n", 0o644, protocol.CodeDenied},
	} {
		path := write(t, "r1", row.text, row.mode)
		c := Images{Accounts: []RegistryAccount{{Host: "registry.example", File: "r1", TokenHosts: []string{"tokens.example"}}}}
		a, err := c.accounts(filepath.Dir(path))(t.Context(), "registry.example")
		if protocol.CodeOf(err) != row.want || err == nil && (a.Password+a.Token != canary || len(a.TokenHosts) != 1) {
			t.Errorf("%s: %v", row.name, err)
		}
		if err != nil && (strings.Contains(err.Error()+protocol.HintOf(err), canary) || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v (%s)", row.name, err, protocol.HintOf(err))
		}
		if a, err := c.accounts(filepath.Dir(path))(t.Context(), "other.example"); err != nil || a.Username+a.Token != "" {
			t.Errorf("of a registry without an account: %v", err)
		}
	}
	c := Images{Accounts: []RegistryAccount{{Host: "registry.example", File: "r1"}}}
	if _, err := c.accounts(t.TempDir())(t.Context(), "registry.example"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("no file: %v", err)
	}
}
