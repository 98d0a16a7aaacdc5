package daemon

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/wire"
	"rackboot/state/jetstream"
)

// The book of packages is in each backup; their programs are as uploaded files are, and it is said where they are not.
func TestRestoreAgentPackages(t *testing.T) {
	t.Parallel()
	c, _ := copiedHub(t, t.TempDir())
	program := []byte("a program")
	signed, err := agentpackage.Sign(agentpackage.Manifest{
		Version: "0.2.0", Protocol: protocol.Version, MadeAt: time.Now().UTC(), Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: wire.Digest(program), Size: int64(len(program))}},
	}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	row := store.AgentPackage{Digest: wire.Digest(signed), Manifest: signed, UploadedAt: time.Now().UTC(), UploadedBy: "ann"}
	value, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	content := "isos/content/" + strings.TrimPrefix(wire.Digest(program), "sha256:")
	if err := errors.Join(os.MkdirAll(filepath.Dir(c.path(content)), 0o700), os.WriteFile(c.path(content), program, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, with := range []bool{false, true} {
		c.Backup.WithFiles = with
		raw := offlineBackup(t, c, func(kv *jetstream.KV) {
			if !with { // it is there the second time
				if _, err := kv.Create(t.Context(), "agentpackage."+strings.TrimPrefix(row.Digest, "sha256:"), value); err != nil {
					t.Fatal(err)
				}
			}
		})
		other := c
		other.DataDir = filepath.Join(t.TempDir(), "other")
		got, err := Restore(t.Context(), other, Restoring{Open: of(raw)})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(got.Manifest.Without, ", "), "uploaded files"); said == with {
			t.Errorf("with files %t: it has not %q", with, got.Manifest.Without)
		}
		keys, err := pki.Open(other.path("pki"), other.Names)
		if err != nil {
			t.Fatal(err)
		}
		st, err := other.openOffline(t.Context(), keys, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := st.AgentPackages.Get(row.Digest)
		st.close()
		if err != nil || string(p.Manifest) != string(signed) || p.UploadedBy != "ann" {
			t.Errorf("with files %t: %+v, %v", with, p, err)
		}
		if _, err := os.Stat(other.path(content)); (err == nil) != with {
			t.Errorf("with files %t: the program: %v", with, err)
		}
	}
}

// A key of publishers that cannot be read stops the start: without it the hub would take what anybody signed.
func TestUpgradeKeys(t *testing.T) {
	dir := t.TempDir()
	_, public, err := wire.EncodeKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	good, bad := filepath.Join(dir, "good.pub"), filepath.Join(dir, "bad.pub")
	if err := errors.Join(os.WriteFile(good, public, 0o600), os.WriteFile(bad, []byte("no key"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		keys []string
		says string
	}{
		"none":               {nil, ""},
		"a file":             {[]string{good}, ""},
		"PEM":                {[]string{string(public)}, ""},
		"no key":             {[]string{good, bad}, "upgrade.keys[1]"},
		"a file that is not": {[]string{filepath.Join(dir, "gone")}, "upgrade.keys[0]"},
	} {
		keys, err := Upgrade{Keys: row.keys}.publishers()
		if (err != nil) != (row.says != "") || err != nil && (!strings.Contains(err.Error(), row.says) || protocol.CodeOf(err) != protocol.CodeInvalid) || err == nil && len(keys) != len(row.keys) {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		}
	}
}
