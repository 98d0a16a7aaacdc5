package boot

import (
	"maps"
	"slices"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// maxStrangers bounds the addresses that are taken for servers in discovery: more than
// the interfaces of all that can be under way at once in a rack.
const maxStrangers = 4096

// strangers are the MAC addresses that no server names and that were answered as a
// server's, because its discovery was the only one open in the segment. They are not on
// disk: after a restart the machine has to ask as firmware again.
type strangers struct {
	mu sync.Mutex
	by map[string]takenFor
}

// takenFor is for which attempt of which server an address was taken.
type takenFor struct{ server, token string }

// of is the attempt that an address was taken for.
func (s *strangers) of(mac string) takenFor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[mac]
}

// take notes it; lasts says whether an attempt that was noted before is its server's
// last still. It is false where there is no room.
func (s *strangers) take(mac string, t takenFor, lasts func(takenFor) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.by[mac]; !known && len(s.by) >= maxStrangers {
		maps.DeleteFunc(s.by, func(_ string, t takenFor) bool { return !lasts(t) })
		if len(s.by) >= maxStrangers {
			return false
		}
	}
	if s.by == nil {
		s.by = map[string]takenFor{}
	}
	s.by[mac] = t
	return true
}

// lasts says whether the attempt that an address was taken for is its server's last. It
// needs x.mu.
func (x *Index) lasts(t takenFor) bool {
	a := x.servers[t.server].attempt
	return t.token != "" && a != nil && a.Token == t.token
}

// strange is whose a client is that no server names: empty, and whether that is because
// several could be meant. It needs x.mu.
func (x *Index) strange(c protocol.BootClient) (server string, several []string) {
	if c.MAC == "" {
		return "", nil
	}
	before := x.strangers.of(c.MAC)
	known := x.lasts(before)
	var open []string
	if !known {
		for name := range x.windows {
			if e := x.servers[name]; e.segment == c.Segment && !e.held && !e.missing {
				open = append(open, name)
			}
		}
	}
	switch decide.StrangerRule(known, c.Class, len(open)) {
	case decide.StrangerKnown:
		return before.server, nil
	case decide.StrangerOnly:
		if x.strangers.take(c.MAC, takenFor{open[0], x.servers[open[0]].attempt.Token}, x.lasts) {
			return open[0], nil
		}
	case decide.StrangerAmbiguous:
		slices.Sort(open)
		return "", open
	case decide.StrangerNobody:
	}
	return "", nil
}
