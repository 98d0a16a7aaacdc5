package sim

import (
	"errors"
	"os"
	"time"

	"rackboot/bmc/capture"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// captured is a BMC that shows what another showed when it was probed.
func captured(file string) (p sim.Personality, err error) {
	f, err := os.Open(file)
	if err != nil {
		return p, protocol.Errorf(protocol.CodeInvalid, "read capture", "%w", err).WithHint("rackctl bmc probe --direct --record FILE writes one")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	files, err := capture.Read(f)
	if err != nil {
		return p, err
	}
	t, err := tree.Of(files)
	if err != nil {
		return p, err
	}
	return sim.Personality{Name: "capture", Source: file, Tree: t, PowerOnDelay: 20 * time.Millisecond, PowerOffDelay: 20 * time.Millisecond}, nil
}
