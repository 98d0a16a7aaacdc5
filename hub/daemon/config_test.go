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
		{"no name", strings.Replace(goodConfig, "[hub.example]", "[]", 1), "names"},
	} {
		_, path, err := load(row.text)
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want an invalid error that names the file and %q", row.name, err, row.want)
		}
	}
	if _, err := newImages(Images{CAFile: "/nonexistent"}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("missing CA: %v", err)
	}
}
