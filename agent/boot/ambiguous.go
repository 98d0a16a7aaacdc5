package boot

import (
	"fmt"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ambiguousFor is how long it is said that an unknown machine was refused.
const ambiguousFor = 10 * time.Minute

// ambiguous says that a machine was refused that several servers could be.
func (r *Room) ambiguous(c protocol.BootClient, servers []string) {
	const most = 5
	names := strings.Join(servers[:min(len(servers), most)], ", ")
	if n := len(servers) - most; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	r.cfg.Reports.RaiseFor(resource.CondDiscoveryAmbiguous, fmt.Sprintf("%s asked on segment %s; open are %s", c.MAC, c.Segment, names), ambiguousFor)
}
