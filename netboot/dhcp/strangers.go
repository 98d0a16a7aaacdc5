package dhcp

import (
	"net/netip"
	"sync"
	"time"
)

// found is how a foreign server was found, the label `how`.
type found string

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
