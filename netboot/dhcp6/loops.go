package dhcp6

import (
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	// loopOffers is how many exchanges may be offered the same boot within
	// loopWindow. Firmware that walks its boot order asks a few times; a loader that
	// loads itself asks every few seconds.
	loopOffers = 8
	loopWindow = 10 * time.Minute
	loopMax    = 4096 // boots; the oldest goes first
)

// loopKey is what is offered to whom.
type loopKey struct {
	id    string
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

// count adds exchanges, 0 or 1, and returns how many there were in the window.
func (l *loops) count(k loopKey, more int, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.entries[k]; ok && now.Before(e.until) {
		e.exchanges += more
		return e.exchanges
	}
	if more == 0 {
		return 0
	}
	for len(l.order) > 0 && (len(l.order) >= loopMax || !now.Before(l.entries[l.order[0]].until)) {
		delete(l.entries, l.order[0])
		l.order = l.order[1:]
	}
	l.entries[k] = &loopEntry{exchanges: more, until: now.Add(loopWindow)}
	l.order = append(l.order, k)
	return more
}

// unloop turns the answer into a refusal if its client was offered the same boot too
// often. Only what begins an exchange counts.
func (s *Server) unloop(r *request, a protocol.BootAnswer) protocol.BootAnswer {
	more := 0
	if r.kind == dhcpv6.MessageTypeSolicit || r.kind == dhcpv6.MessageTypeInformationRequest {
		more = 1
	}
	n := s.loops.count(loopKey{r.id, r.class, a.Token, a.File}, more, s.now())
	if n <= loopOffers {
		return a
	}
	s.metrics.loops.WithLabelValues(string(r.class)).Add(float64(more))
	if n == loopOffers+1 && more > 0 {
		s.log.Warn("boot loop refused", "mac", r.mac, "server", a.Server, "class", r.class, "offers", loopOffers)
		s.notice(netboot.Notice{Kind: netboot.NoticeBootLoop, MAC: r.mac, Server: a.Server})
	}
	return protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: a.Server, Reason: "boot loop"}
}
