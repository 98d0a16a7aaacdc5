package boot

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// tenant is who has an address, of IPv4 or of IPv6, and until when.
type tenant struct {
	address  netip.Addr
	client   string // as the lease names it; of MAC and UUID at least one is known
	mac      string
	uuid     string
	expires  time.Time
	declined bool
}

func tenant4(l netboot.Lease) tenant {
	return tenant{address: l.Address, client: l.MAC, mac: l.MAC, expires: l.Expires, declined: l.Declined}
}

func tenant6(l netboot.Lease6) tenant {
	t := tenant{address: l.Address, client: l.Client, mac: l.MAC, expires: l.Expires, declined: l.Declined}
	if uuid, ok := strings.CutPrefix(l.Client, "uuid:"); ok {
		t.uuid = uuid
	}
	return t
}

// leased says which machine has an address of one segment: clients that ask by a
// fixed name are known by nothing else. It holds one entry for each address that was
// leased and not given back, so that the pools bound it. It is safe for concurrent
// use.
type leased struct {
	mu      sync.RWMutex
	tenants map[netip.Addr]tenant
}

func newLeased() *leased { return &leased{tenants: map[netip.Addr]tenant{}} }

// load takes over the leases from before the start. Without them a client has to ask
// for its lease again, which firmware does at each boot. Where they cannot be read,
// the DHCP server's start fails of it, and says so.
func load[L netboot.Lease | netboot.Lease6](l *leased, kept netboot.LeaseStore[L], segment string, of func(L) tenant) {
	leases, err := kept.Load(segment)
	if err != nil {
		return
	}
	for _, lease := range leases {
		l.note(of(lease))
	}
}

// note takes a lease that was granted or renewed.
func (l *leased) note(t tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.declined {
		delete(l.tenants, t.address)
		return
	}
	l.tenants[t.address] = t
}

// end takes that a client has an address no more. If it names another client than the
// one that has it now, nothing is done.
func (l *leased) end(t tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.client == "" || l.tenants[t.address].client == t.client {
		delete(l.tenants, t.address)
	}
}

// of is the machine whose lease of an address runs.
func (l *leased) of(a netip.Addr, now time.Time) (protocol.BootClient, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	t, ok := l.tenants[a.Unmap()]
	if !ok || !now.Before(t.expires) {
		return protocol.BootClient{}, false
	}
	return protocol.BootClient{MAC: t.mac, UUID: t.uuid}, true
}
