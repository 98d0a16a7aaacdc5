package boot

import (
	"fmt"
	"sync"
	"time"

	"rackboot/netboot"
)

// diverters are who, on each segment, may have servers load another file than the agent's:
// another DHCP server, and who says that the agent's address is his. It is safe for concurrent
// use.
type diverters struct {
	mu   sync.Mutex
	seen map[string]diverter // by segment, the last one
}

type diverter struct {
	what  string
	until time.Time
}

// note takes a notice. Who uses the address of a server gets what is sent to that, and tells
// the server nothing.
func (d *diverters) note(m netboot.Notice, now time.Time) {
	var what string
	switch {
	case m.Kind == netboot.NoticeForeignServer:
		what = fmt.Sprintf("another DHCP server answers on segment %s, %s", m.Segment, m.Address)
	case m.Kind == netboot.NoticeSpoofed && m.Own:
		what = fmt.Sprintf("%s uses the agent's address on segment %s", m.MAC, m.Segment)
	default:
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]diverter{}
	}
	d.seen[m.Segment] = diverter{what, now.Add(noticed)}
}

// Diverted says who may have servers of a segment load another file than the agent's, as far
// as was seen in the last 70 minutes; empty is nobody.
func (r *Room) Diverted(segment string) string {
	r.diverters.mu.Lock()
	defer r.diverters.mu.Unlock()
	one := r.diverters.seen[segment]
	if r.cfg.Clock().After(one.until) {
		delete(r.diverters.seen, segment)
		return ""
	}
	return one.what
}
