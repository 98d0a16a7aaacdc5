package dhcp

import (
	"net/netip"
	"sync"
	"time"

	"rackboot/netboot"
)

const (
	// foreignAgain is how long a server that was told of is not told of again, and
	// how long it counts as there.
	foreignAgain = time.Hour
	foreignMax   = 32 // servers; option 54 can be forged, and the table must not grow
)

// found is how a foreign server was found, the label `how`.
type found string

const (
	foundRequest found = "request" // a client chose it
	foundOffer   found = "offer"   // it answered a DISCOVER of ours
)

// strangers are the other DHCP servers of the segment.
type strangers struct {
	mu   sync.Mutex
	seen map[netip.Addr]*stranger
}

type stranger struct{ told, last time.Time }

func newStrangers() *strangers { return &strangers{seen: make(map[netip.Addr]*stranger)} }

// saw notes the server and says whether to tell of it now.
func (f *strangers) saw(a netip.Addr, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, ok := f.seen[a]
	if !ok {
		if len(f.seen) >= foreignMax {
			for b, s := range f.seen {
				if now.Sub(s.last) >= foreignAgain {
					delete(f.seen, b)
				}
			}
			if len(f.seen) >= foreignMax {
				return false
			}
		}
		st = &stranger{}
		f.seen[a] = st
	}
	st.last = now
	if !st.told.IsZero() && now.Sub(st.told) < foreignAgain {
		return false
	}
	st.told = now
	return true
}

// count is how many were there within the last hour.
func (f *strangers) count(now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.seen {
		if now.Sub(s.last) < foreignAgain {
			n++
		}
	}
	return n
}

// foreign takes note of another server on the segment.
func (s *Server) foreign(a netip.Addr, how found) {
	if !a.Is4() || a.IsLoopback() || a.IsMulticast() || a.IsUnspecified() || a.As4() == [4]byte{255, 255, 255, 255} {
		return // no server has such an address
	}
	s.metrics.foreign.WithLabelValues(string(how)).Inc()
	if s.strangers.saw(a, s.now()) {
		s.log.Warn("another DHCP server is on the segment", "address", a.String(), "found_by", string(how))
		s.notice(netboot.Notice{Kind: netboot.NoticeForeignServer, Address: a})
	}
}
