package netboot

import (
	"net"
	"net/netip"
	"strings"

	"rackboot/protocol"
)

// Reservation is an address that belongs to one machine, named by at least one of
// MAC, UUID and Port.
type Reservation struct {
	Address netip.Addr
	MAC     string // any form that net.ParseMAC takes
	UUID    string // 8-4-4-4-12, in either byte order of the first three groups
	Port    string // as protocol.BootClient.Port
}

// Reservations are the reservations of one segment. They do not change, and are
// safe for concurrent use. A nil one is empty.
type Reservations struct {
	byMAC, byUUID, byPort map[string]Reservation
	byAddr                map[netip.Addr]Reservation
}

// NewReservations indexes reservations. Errors are invalid: an address that is not
// IPv4, one without a machine, a malformed MAC or UUID, and anything that occurs
// twice, because the order of a list must not decide who gets an address. An
// all-zero or all-one UUID names no machine: boards without one share it.
func NewReservations(list []Reservation) (*Reservations, error) {
	const op = "DHCP reservations"
	rs := &Reservations{
		byMAC: map[string]Reservation{}, byUUID: map[string]Reservation{}, byPort: map[string]Reservation{},
		byAddr: map[netip.Addr]Reservation{},
	}
	for _, r := range list {
		bad := func(what string) error {
			return protocol.Errorf(protocol.CodeInvalid, op, "reservation of %s: %s", r.Address, what).
				WithHint("give each reserved address one machine, by its MAC address, UUID or port")
		}
		if !r.Address.Is4() {
			return nil, bad("the address is not IPv4")
		}
		if r.MAC == "" && r.UUID == "" && r.Port == "" {
			return nil, bad("it names no machine")
		}
		if _, twice := rs.byAddr[r.Address]; twice {
			return nil, bad("the address is reserved twice")
		}
		rs.byAddr[r.Address] = r
		if r.MAC != "" {
			mac, err := net.ParseMAC(r.MAC)
			if err != nil || len(mac) != 6 {
				return nil, bad("the MAC address is malformed")
			}
			if !add(rs.byMAC, mac.String(), r) {
				return nil, bad("the MAC address has another reservation")
			}
		}
		if r.UUID != "" {
			u := strings.ToLower(r.UUID)
			if !isUUID(u) {
				return nil, bad("the UUID is malformed or names no machine")
			}
			if !add(rs.byUUID, u, r) {
				return nil, bad("the UUID has another reservation")
			}
			if s := protocol.SwapUUID(u); s != u && !add(rs.byUUID, s, r) {
				return nil, bad("the UUID in its other byte order has another reservation")
			}
		}
		if r.Port != "" && !add(rs.byPort, r.Port, r) {
			return nil, bad("the port has another reservation")
		}
	}
	return rs, nil
}

func add(m map[string]Reservation, key string, r Reservation) bool {
	if _, twice := m[key]; twice {
		return false
	}
	m[key] = r
	return true
}

// Of is the reservation of a client: by its MAC address, else by its UUID, else by
// its port. Where more than one fits, the first of these decides: a board or a cable
// may have been moved, the interface that asks is the one that asks. A reservation
// that names a MAC address too is not given to another one by UUID or port: a machine
// has several interfaces, and its address belongs to one.
func (rs *Reservations) Of(c protocol.BootClient) (Reservation, bool) {
	if rs == nil {
		return Reservation{}, false
	}
	if r, ok := rs.byMAC[c.MAC]; ok {
		return r, true
	}
	if r, ok := rs.byUUID[c.UUID]; ok && r.MAC == "" {
		return r, true
	}
	if r, ok := rs.byPort[c.Port]; ok && r.MAC == "" && r.UUID == "" {
		return r, true
	}
	return Reservation{}, false
}

// At is the reservation of an address.
func (rs *Reservations) At(a netip.Addr) (Reservation, bool) {
	if rs == nil {
		return Reservation{}, false
	}
	r, ok := rs.byAddr[a]
	return r, ok
}

// isUUID says whether the text, in lower case, is a UUID that names one machine.
func isUUID(u string) bool {
	if len(u) != 36 {
		return false
	}
	for i := range len(u) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (u[i] == '-') || !hyphen && !strings.Contains("0123456789abcdef", u[i:i+1]) {
			return false
		}
	}
	digits := strings.ReplaceAll(u, "-", "")
	return strings.Trim(digits, "0") != "" && strings.Trim(digits, "f") != ""
}
