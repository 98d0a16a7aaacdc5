package boot

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	// shortFor is how long a machine is said to wait for an address after it asked last:
	// firmware that got none asks for a minute, and again when it is started anew.
	shortFor = 10 * time.Minute
	// maxShort bounds the machines that are named in the agent's condition.
	maxShort = 8
)

// shortages are the machines of ours that asked for an address and got none. It is safe for
// concurrent use.
type shortages struct {
	mu sync.Mutex
	by map[string]starving // by MAC
}

type starving struct {
	server, segment string
	until           time.Time
}

func newShortages() *shortages { return &shortages{by: map[string]starving{}} }

// note takes that a machine got no address.
func (s *shortages) note(m netboot.Notice, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.by, func(_ string, w starving) bool { return !now.Before(w.until) })
	s.by[m.MAC] = starving{server: m.Server, segment: m.Segment, until: now.Add(shortFor)}
}

// end takes that a machine has an address, and returns its server, if it waited as one.
func (s *shortages) end(mac string) (server string, waited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, waited := s.by[mac]
	delete(s.by, mac)
	return w.server, waited
}

// of says on which segment a server waits for an address; empty if it does not.
func (s *shortages) of(server string, now time.Time) (segment string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.by {
		if w.server == server && server != "" && now.Before(w.until) {
			return w.segment
		}
	}
	return ""
}

// describe says which segments have too few addresses, and for whom; empty if none has.
func (s *shortages) describe(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	bySegment := map[string][]string{}
	for mac, w := range s.by {
		if now.Before(w.until) {
			name := mac
			if w.server != "" {
				name = "server " + w.server
			}
			bySegment[w.segment] = append(bySegment[w.segment], name)
		}
	}
	var all []string
	for _, segment := range slices.Sorted(maps.Keys(bySegment)) {
		names := bySegment[segment]
		slices.Sort(names)
		names = slices.Compact(names)
		more := ""
		if n := len(names) - maxShort; n > 0 {
			names, more = names[:maxShort], fmt.Sprintf(" and %d more", n)
		}
		all = append(all, "segment "+segment+" has no address for "+strings.Join(names, ", ")+more)
	}
	return strings.Join(all, "; ")
}

// starved takes that a machine of ours got no address.
func (r *Room) starved(m netboot.Notice) {
	now := r.cfg.Clock()
	r.shortages.note(m, now)
	r.cfg.Reports.RaiseFor(resource.CondPoolExhausted, r.shortages.describe(now), shortFor)
	if m.Server != "" {
		r.cfg.Servers.Wake(m.Server)
	}
}

// fed takes that a machine has an address.
func (r *Room) fed(mac string) {
	server, waited := r.shortages.end(mac)
	if !waited {
		return
	}
	if text := r.shortages.describe(r.cfg.Clock()); text != "" {
		r.cfg.Reports.RaiseFor(resource.CondPoolExhausted, text, shortFor)
	} else {
		r.cfg.Reports.Clear(resource.CondPoolExhausted)
	}
	if server != "" {
		r.cfg.Servers.Wake(server)
	}
}
