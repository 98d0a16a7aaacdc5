package netboot

import (
	"net/netip"
	"time"
)

// NoticeKind is what a boot server saw that somebody should know.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeForeignServer: Address is another DHCP server on the segment. It is told
	// again after an hour at the earliest.
	NoticeForeignServer NoticeKind = "foreign_dhcp_server"
	// NoticeBootLoop: MAC of Server asked for the same boot again and again, and is
	// refused for a while.
	NoticeBootLoop NoticeKind = "boot_loop"
	// NoticeConflict: somebody uses Address, which nobody was given; MAC is who
	// answered.
	NoticeConflict NoticeKind = "address_conflict"
	// NoticeDeclined: MAC found its reserved Address in use.
	NoticeDeclined NoticeKind = "reservation_declined"
	// NoticeNoRouter: no router advertisement gives a route to the agent on a segment
	// with IPv6 boot: firmware waits 10 s for one in each boot, and what it boots has
	// none.
	NoticeNoRouter NoticeKind = "no_router_advertisement"
	// NoticeUnmanaged: the router advertisements lack the flag that sends clients to
	// DHCPv6: M where it leases addresses, M or O where it does not. Address is a
	// router. Like NoticeNoRouter it is told again after an hour at the earliest.
	NoticeUnmanaged NoticeKind = "router_flags"
	// NoticeNoAddress: MAC, of Server or a BMC that was accepted, asked for an address and
	// there was none. It is told again after a minute at the earliest.
	NoticeNoAddress NoticeKind = "no_address"
	// NoticeSpoofed: MAC uses Address, which is the agent's own, or leased to Server. It is told
	// again after an hour at the earliest.
	NoticeSpoofed NoticeKind = "address_spoofed"
)

// NoticeKinds lists the kinds.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{NoticeForeignServer, NoticeBootLoop, NoticeConflict, NoticeDeclined, NoticeNoRouter, NoticeUnmanaged, NoticeNoAddress, NoticeSpoofed}
}

// Notice is something that a boot server saw on its segment. Fields that its kind
// does not name are empty.
type Notice struct {
	Kind    NoticeKind
	Segment string
	Address netip.Addr
	MAC     string
	Server  string
	At      time.Time
	Own     bool // of [NoticeSpoofed]: Address is the agent's own
}
