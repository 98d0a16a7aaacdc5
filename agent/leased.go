package agent

import (
	"net/netip"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
)

// leased says which machine has an address of one segment: clients that ask by a
// fixed name are known by nothing else. It holds one entry for each address that was
// leased, so that the pool bounds it. It is safe for concurrent use.
type leased struct {
	mu     sync.RWMutex
	leases map[netip.Addr]netboot.Lease
}

func newLeased() *leased { return &leased{leases: map[netip.Addr]netboot.Lease{}} }

// load takes over the leases from before the start. Without them a client has to ask
// for its lease again, which firmware does at each boot.
func (l *leased) load(st *store.Store, segment string) {
	leases, err := st.Load(segment)
	if err != nil {
		return // the DHCP server's start fails of it, and says so
	}
	for _, lease := range leases {
		l.note(lease)
	}
}

// note takes a lease that was granted or renewed.
func (l *leased) note(lease netboot.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lease.Declined {
		delete(l.leases, lease.Address)
		return
	}
	l.leases[lease.Address] = lease
}

// of is the MAC address whose lease of an address runs; empty if none does.
func (l *leased) of(a netip.Addr, now time.Time) string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	lease := l.leases[a.Unmap()]
	if !now.Before(lease.Expires) {
		return ""
	}
	return lease.MAC
}
