package daemon

import (
	"bytes"
	"os"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The key is made once, readable by its owner only; a damaged one is not replaced
// without being told.
func TestSealKey(t *testing.T) {
	dir := t.TempDir()
	first, err := sealKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(sealKeyPath(dir))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := sealKey(dir)
	if err != nil || !bytes.Equal(first.Public(), again.Public()) || len(first.Public()) != resource.SealKeySize {
		t.Errorf("another key after a restart (%v)", err)
	}
	if err := os.WriteFile(sealKeyPath(dir), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sealKey(dir); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("a damaged key: %v", err)
	}
	if err := os.Remove(sealKeyPath(dir)); err != nil {
		t.Fatal(err)
	}
	if next, err := sealKey(dir); err != nil || bytes.Equal(first.Public(), next.Public()) {
		t.Errorf("a removed key is not made anew (%v)", err)
	}
}
