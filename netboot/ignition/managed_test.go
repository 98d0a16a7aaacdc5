package ignition

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

// Seed 001, "Projected timeline": the new secret is $(secret_name)-spec-3-managed. Facts
// boot-images §5 row 11.
func TestManagedName(t *testing.T) {
	t.Parallel()
	if name, err := ManagedName("worker-user-data"); err != nil || name != "worker-user-data-spec-3-managed" {
		t.Error(name, err)
	}
	for _, secret := range []string{"", strings.Repeat("x", 60)} {
		if name, err := ManagedName(secret); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q becomes %q, %v", secret, name, err)
		}
	}
}
