package rack

import (
	"testing"

	"rackboot/integration/parallel"
)

func TestMain(m *testing.M) { parallel.Main(m) }
