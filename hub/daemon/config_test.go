package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

const goodConfig = "dataDir: /var/lib/rackboot-hub\napi: 0.0.0.0:8443\nmqtt: 0.0.0.0:8883\nnames: [hub.example]\n"

func TestLoadConfig(t *testing.T) {
	load := func(text string) (Config, string, error) {
		path := filepath.Join(t.TempDir(), "hub.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := LoadConfig(path)
		return c, path, err
	}
	if c, _, err := load(goodConfig); err != nil || c.Names[0] != "hub.example" {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, row := range []struct{ name, text, want string }{
		{"unknown field", goodConfig + "broker: x\n", "broker"},
		{"wrong type", strings.Replace(goodConfig, "[hub.example]", "5", 1), "4"},
		{"no folder", strings.Replace(goodConfig, "dataDir: /var/lib/rackboot-hub\n", "", 1), "dataDir"},
		{"no port", strings.Replace(goodConfig, ":8883", "", 1), "mqtt"},
		{"an API without TLS", goodConfig + "endpoints: {api: ['http://hub.example:8443']}\n", "endpoints.api[0]"},
		{"a broker without protection", goodConfig + "endpoints: {brokers: ['mqtts://a', 'mqtt://b']}\n", "endpoints.brokers[1]"},
		{"too many endpoints", goodConfig + "endpoints: {brokers: [" + strings.Repeat("'mqtts://a',", 9) + "]}\n", "endpoints"},
		{"certificates that end overnight", goodConfig + "certificateLife: 1h\n", "certificateLife"},
		{"an allowed registry by URL", goodConfig + "images: {allow: ['https://registry.example']}\n", "images.allow[0]"},
		{"an account without a Secret", goodConfig + "images: {accounts: [{host: registry.example}]}\n", "images.accounts[0].secret"},
		{"two accounts of a registry", goodConfig + "images: {accounts: [{host: a, secret: s}, {host: a, secret: t}]}\n", "images.accounts[1].host"},
		{"a token host that is none", goodConfig + "images: {accounts: [{host: a, secret: s, tokenHosts: [https://b]}]}\n", "images.accounts[0]"},
		{"a signing key without a file", goodConfig + "images: {signingKeys: [{name: a}]}\n", "images.signingKeys[0].file"},
		{"a signing key without a name", goodConfig + "images: {signingKeys: [{file: a}]}\n", "images.signingKeys[0].name"},
		{"two signing keys of a name", goodConfig + "images: {signingKeys: [{name: a, file: b}, {name: a, file: c}]}\n", "images.signingKeys[1].name"},
		{"too many signing keys", goodConfig + "images: {signingKeys: [" + strings.Repeat("{name: a, file: b},", 65) + "]}\n", "images.signingKeys"},
		{"a quota that is less than nothing", goodConfig + "isos: {quotaMiB: -1}\n", "isos"},
		{"a publisher's key that is no path", goodConfig + "upgrade: {keys: [publisher.pub]}\n", "upgrade.keys[0]"},
		{"signatures without keys", goodConfig + "isos: {requireSignature: true}\n", "isos.requireSignature"},
		{"events that are gone at once", goodConfig + "events: {maxAge: 1h}\n", "events.maxAge"},
		{"no events", goodConfig + "events: {quotaMiB: -1}\n", "events.quotaMiB"},
		{"backups for nobody", goodConfig + "backup: {folder: /srv/b}\n", "backup"},
		{"backups that are lost with the hub", goodConfig + "backup: {plain: true, folder: /var/lib/rackboot-hub/b}\n", "backup.folder"},
		{"no name", strings.Replace(goodConfig, "[hub.example]", "[]", 1), "names"},
	} {
		_, path, err := load(row.text)
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want an invalid error that names the file and %q", row.name, err, row.want)
		}
	}
	if _, err := newImages(Images{CAFile: "/nonexistent"}, secrets{}, nil, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("missing CA: %v", err)
	}
	for _, file := range []string{"/nonexistent", os.DevNull} {
		if _, err := newImages(Images{SigningKeys: []SigningKey{{"a", file}}}, secrets{}, nil, nil); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "signingKeys[0]") {
			t.Errorf("%s as a key: %v", file, err)
		}
	}
}
