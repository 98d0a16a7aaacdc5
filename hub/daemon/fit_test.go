package daemon

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/hub/pki"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// A hub whose keys do not fit one another does not start: it says which files, and what to
// do. Agents that follow the right keys would refuse all that it says. Nothing is changed.
func TestKeysThatDoNotFit(t *testing.T) {
	t.Parallel()
	take := func(t *testing.T, from, to string) {
		t.Helper()
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, row := range map[string]struct {
		spoil func(t *testing.T, c *Config, other string) // other is another hub's folder
		names []string
	}{
		"another signing key": {func(t *testing.T, c *Config, other string) {
			take(t, filepath.Join(other, "pki", "signing.pem"), c.path("pki/signing.pem"))
		}, []string{"signing.pem", "statements.json"}},
		"another signing key with its statements": {func(t *testing.T, c *Config, other string) {
			take(t, filepath.Join(other, "pki", "signing.pem"), c.path("pki/signing.pem"))
			take(t, filepath.Join(other, "pki", "statements.json"), c.path("pki/statements.json"))
		}, []string{"pki/signing.pem", "hub.pub"}},
		"another authority": {func(t *testing.T, c *Config, other string) {
			take(t, filepath.Join(other, "pki", "ca.pem"), c.path("pki/ca.pem"))
		}, []string{"pki/ca.pem", "/ca.pem"}},
		"the authority's certificate with another key": {func(t *testing.T, c *Config, other string) {
			own, err := os.ReadFile(c.path("pki/ca.pem"))
			if err != nil {
				t.Fatal(err)
			}
			foreign, err := os.ReadFile(filepath.Join(other, "pki", "ca.pem"))
			if err != nil {
				t.Fatal(err)
			}
			const end = "-----END CERTIFICATE-----\n"
			cert, _, _ := strings.Cut(string(own), end)
			_, key, _ := strings.Cut(string(foreign), end)
			if err := os.WriteFile(c.path("pki/ca.pem"), []byte(cert+end+key), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"pki/ca.pem"}},
		"a destructive key with another public half beside it": {func(t *testing.T, c *Config, _ string) {
			for i, file := range []string{"d", "e"} {
				private, public, err := wire.EncodeKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize)))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(c.path(file), private, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(c.path(file+".pub"), public, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			take(t, c.path("e.pub"), c.path("d.pub"))
			c.DestructiveKey.File = c.path("d")
		}, []string{"/d", "d.pub"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, other := ownHub(t), ownHub(t)
			started(t, c)
			started(t, other)
			row.spoil(t, &c, other.DataDir)
			before := read(t, c.path("hub.pub")) + read(t, c.path("ca.pem"))
			err := runOnce(t, c)
			if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
				t.Fatalf("code %s, hint %q: %v", protocol.CodeOf(err), protocol.HintOf(err), err)
			}
			for _, name := range row.names {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s is not named: %v", name, err)
				}
			}
			if read(t, c.path("hub.pub"))+read(t, c.path("ca.pem")) != before {
				t.Error("what people and agents go by was overwritten")
			}
		})
	}
}

// Keys that were changed as they should be fit.
func TestChangedKeysFit(t *testing.T) {
	t.Parallel()
	c := ownHub(t)
	started(t, c)
	if _, err := RotateSigning(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, finish := range []bool{false, true} {
		if err := RotateCA(t.Context(), c, finish, true); err != nil {
			t.Fatal(err)
		}
		started(t, c)
	}
	if _, err := pki.Open(c.path("pki"), c.Names); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// started wants the hub to start.
func started(t *testing.T, c Config) {
	t.Helper()
	if err := runOnce(t, c); err != nil {
		t.Fatal(err)
	}
}

// runOnce runs a hub until it is ready, or says why it does not start.
func runOnce(t *testing.T, c Config) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return Run(ctx, c, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), Ready: cancel})
}

func ownHub(t *testing.T) Config {
	t.Helper()
	return Config{DataDir: t.TempDir(), API: "127.0.0.1:0", MQTT: "127.0.0.1:0", Names: []string{"127.0.0.1"}}
}
