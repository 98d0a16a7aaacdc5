package dhcp

import (
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	// loopOffers is how many exchanges may be offered the same boot within
	// loopWindow. Firmware that walks its boot order asks a few times; a loader that
	// loads itself asks every few seconds.
	loopOffers = 8
	loopWindow = 10 * time.Minute
	loopMax    = 4096 // MAC addresses; the oldest goes first
)

// loopKey is what is offered to whom.
type loopKey struct {
	mac   string
	class protocol.ClientClass
	token string
	file  string
}

type loopEntry struct {
	exchanges int
	until     time.Time
}

// loops counts equal offers. Entries live equally long from their first offer, so
// that the order of insertion is the order of expiry.
type loops struct {
	mu      sync.Mutex
	entries map[loopKey]*loopEntry
	order   []loopKey
}

func newLoops() *loops { return &loops{entries: make(map[loopKey]*loopEntry)} }

// count counts one more exchange and returns how many there were in the window.
func (l *loops) count(k loopKey, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[k]; ok && now.Before(e.until) {
		e.exchanges++
		return e.exchanges
	}
	for len(l.order) > 0 && (len(l.order) >= loopMax || !now.Before(l.entries[l.order[0]].until)) {
		delete(l.entries, l.order[0])
		l.order = l.order[1:]
	}
	l.entries[k] = &loopEntry{exchanges: 1, until: now.Add(loopWindow)}
	l.order = append(l.order, k)
	return 1
}

// over says whether there were too many.
func (l *loops) over(k loopKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[k]
	return ok && now.Before(e.until) && e.exchanges > loopOffers
}

// unloop turns the answer into a refusal if its client was offered the same boot
// too often: a chain that loads itself never ends by itself. Repeated DISCOVERs of
// one exchange have a frozen answer and do not count; what follows in an exchange of
// its own, such as a REQUEST at port 4011, is refused with them.
func (s *Server) unloop(r *request, a protocol.BootAnswer) protocol.BootAnswer {
	key := loopKey{r.mac, r.class, a.Token, a.File}
	refusal := protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: a.Server, Reason: "boot loop"}
	if r.kind != dhcpv4.MessageTypeDiscover {
		if s.loops.over(key, s.now()) {
			return refusal
		}
		return a
	}
	n := s.loops.count(key, s.now())
	if n <= loopOffers {
		return a
	}
	s.metrics.loops.WithLabelValues(string(r.class)).Inc()
	if n == loopOffers+1 {
		s.log.Warn("boot loop refused", "mac", r.mac, "server", a.Server, "class", r.class, "offers", loopOffers)
		s.notice(netboot.Notice{Kind: netboot.NoticeBootLoop, MAC: r.mac, Server: a.Server})
	}
	return refusal
}
