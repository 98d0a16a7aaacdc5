//go:debug x509negativeserial=1

package rack

import (
	"testing"

	"rackboot/integration/parallel"
)

func TestMain(m *testing.M) { parallel.Main(m) }
