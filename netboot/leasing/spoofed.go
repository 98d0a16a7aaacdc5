package leasing

import (
	"net/netip"
	"sync"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Whose says whose an address of the segment is, as far as the server knows.
type Whose string

// Whose an address is.
const (
	WhoseOurs   Whose = "ours"   // the agent's own
	WhoseLeased Whose = "leased" // of a machine that it was leased to
	WhoseOther  Whose = "other"  // not known
)

// Tenant is who has an address. MAC is empty where a lease names none; Server where it is of no
// server.
type Tenant struct {
	Whose       Whose
	MAC, Server string
}

// spoofRule says whether who uses an address pretends to be somebody else. The first row that
// fits decides.
//
//	address | by its own | spoofed
//	other   | *          | no
//	*       | yes        | no
//	*       | no         | yes
//
// Its own is the interface that has it, and for a lease every interface of the same server:
// Linux answers for its addresses by all of them.
func spoofRule(w Whose, own bool) bool { return w != WhoseOther && !own }

const (
	// spoofAgain is how long it is not told again that an interface uses an address.
	spoofAgain = time.Hour
	// maxSpoofs bounds what is remembered of it; addresses and interfaces can be made up.
	maxSpoofs = 64
)

// spoofs says when to tell that somebody uses an address of another. It is safe for concurrent
// use.
type spoofs struct {
	mu   sync.Mutex
	told map[spoof]time.Time
}

type spoof struct {
	addr netip.Addr
	by   string
}

// tell reports whether to tell of it now.
func (s *spoofs) tell(k spoof, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.told[k]; ok && now.Sub(at) < spoofAgain {
		return false
	}
	if len(s.told) >= maxSpoofs {
		for k, at := range s.told {
			if now.Sub(at) >= spoofAgain {
				delete(s.told, k)
			}
		}
		if len(s.told) >= maxSpoofs {
			return false // the condition says it already
		}
	}
	if s.told == nil {
		s.told = make(map[spoof]time.Time)
	}
	s.told[k] = now
	return true
}

// Uses takes that an interface was heard to use an address of a tenant. One that does so for
// another, as ARP and neighbour discovery are spoofed, is told of.
func (as *Answers) Uses(a netip.Addr, by string, t Tenant) {
	own := by == t.MAC
	if !own && t.Whose == WhoseLeased && t.Server != "" {
		own = as.cfg.Resolver.Resolve(protocol.BootClient{Segment: as.cfg.Segment, MAC: by, Class: protocol.ClassNone}).Server == t.Server
	}
	if !spoofRule(t.Whose, own) {
		return
	}
	as.cfg.Spoofed.WithLabelValues(string(t.Whose)).Inc()
	told := &as.spoofs
	if t.Whose == WhoseOurs {
		told = &as.oursSpoofed
	}
	if told.tell(spoof{a, by}, as.cfg.Clock()) {
		as.cfg.Logger.Warn("an address is used by a machine that it is not of", "address", a.String(), "by", by, "whose", string(t.Whose), "server", t.Server)
		as.Notice(netboot.Notice{Kind: netboot.NoticeSpoofed, Address: a, MAC: by, Server: t.Server, Own: t.Whose == WhoseOurs})
	}
}
