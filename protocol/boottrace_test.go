package protocol

import (
	"encoding/hex"
	"testing"
)

// The ID is the same wherever it is computed, also by a later version: logs of old boots name it.
func TestBootTraceID(t *testing.T) {
	id := BootTraceID("n1", "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
	if want := "5a79b2ff9c89e5309a7278ec69b4dde5"; id != want {
		t.Errorf("%s, want %s", id, want)
	}
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 16 {
		t.Errorf("%q is no trace ID", id)
	}
	for _, other := range []string{BootTraceID("n2", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"), BootTraceID("n1", "1f1e2d3c4b5a69788796a5b4c3d2e1f0"), BootTraceID("n1\n0", "f1e2d3c4b5a69788796a5b4c3d2e1f0")} {
		if other == id {
			t.Errorf("another attempt has the same ID %s", id)
		}
	}
}
