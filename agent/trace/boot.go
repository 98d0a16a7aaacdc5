package trace

import (
	"fmt"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Exchanged traces what a boot client asked and got, in an attempt of a server. A system
// that renews its lease long after it was booted is in no trace.
func (t *Room) Exchanged(server string, a *decide.Attempt, e netboot.Exchange) {
	if traceable(a, e.At) {
		t.add(sighting{server: server, attempt: a.ID, seen: e})
	}
}

// Reported traces what an image said, and what was answered.
func (t *Room) Reported(server string, a *decide.Attempt, at time.Time, r protocol.ProbeReport, err error) {
	if !traceable(a, at) {
		return
	}
	detail := r.Message
	if err != nil {
		detail = strings.TrimSpace(fmt.Sprintf("%s (not taken: %s)", detail, protocol.CodeOf(err)))
	}
	t.add(sighting{server: server, attempt: a.ID, row: resource.TraceRow{At: at, Source: protocol.TraceReport, What: string(r.State), Detail: detail}})
}
