package firmware

import (
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"time"

	"rackboot/protocol"
)

// What ends a boot without a loader running. Errors of this package wrap one of
// these, or are protocol errors of their own.
var (
	// ErrNoOffer: no usable offer came in any try (PXE-E16).
	ErrNoOffer = errors.New("no usable offer")
	// ErrNak: the server refused the address that it had offered.
	ErrNak = errors.New("address refused")
	// ErrLocalBoot: the server's PXE menu says to boot from disk (PXE-E21).
	ErrLocalBoot = errors.New("remote boot cancelled by the server")
	// ErrNoRoute: no router advertised a route to the server (IPv6).
	ErrNoRoute = errors.New("no route to the server")
	// ErrRefused: the boot URL answers 404.
	ErrRefused = errors.New("boot file refused")
	// ErrProtocol: the HTTP server did what firmware does not take.
	ErrProtocol = errors.New("answer not understood by firmware")
)

// httpTimeout is PcdHttpIoTimeout: for the header, and between reads.
const httpTimeout = 5 * time.Second

// tryTimes are mHttpDhcpTimeout and mPxeDhcpTimeout of EDK2.
func tryTimes() []time.Duration {
	return []time.Duration{4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second}
}

// Architecture types of option 93 that the flows use (RFC 4578, IANA).
const (
	ArchX64     = 7
	ArchX64HTTP = 16
)

// Client is one network port of one machine. The zero value of an optional field
// is the default. A Client does one flow at a time.
type Client struct {
	MAC  net.HardwareAddr
	UUID [16]byte // SMBIOS UUID as option 97 carries it; all zero if the board has none
	// Arch is the architecture type of option 93; ArchX64HTTP or ArchX64 by flow if zero.
	Arch uint16

	// Server is where packets go, as from a relay; its address is of IPv6 for flows over
	// that. Exclusive with Interface.
	Server *net.UDPAddr
	// Interface is where to broadcast.
	Interface string

	// TFTP is where PXE loads from instead of the server that the ACK names, for tests
	// without the right to port 69.
	TFTP netip.AddrPort

	// From is where HTTP requests come from, if it is a loopback address: the machine's own
	// one, which servers count its connections by. A boot takes the leased one by itself.
	From netip.Addr

	// Speed divides the times of the DHCP tries; 1 if zero.
	Speed float64
	// HTTPTimeout is the longest wait for a header or a read; 5 s if zero.
	HTTPTimeout time.Duration
	// Roots are the authorities that are enrolled for https boot URLs; nil trusts nobody.
	Roots *x509.CertPool
	// BootURI is the URI of the boot option, as Redfish HttpBootUri sets it. The
	// URI of the offer is then not used.
	BootURI string
	// NoRouter says that no router of the link advertises a route, without which
	// firmware boots nothing over IPv6.
	NoRouter bool
}

func (c *Client) check() error {
	if len(c.MAC) != 6 || (c.Server == nil) == (c.Interface == "") || c.Speed < 0 {
		return protocol.Errorf(protocol.CodeInvalid, "firmware", "a 6-byte MAC, either a server or an interface, and a speed are required")
	}
	return nil
}

func (c *Client) scaled(d time.Duration) time.Duration {
	if c.Speed == 0 {
		return d
	}
	return time.Duration(float64(d) / c.Speed)
}

// Lease is what the client was granted.
type Lease struct {
	Address netip.Addr
	Server  netip.Addr // option 54
	Mask    net.IPMask
	Routers []netip.Addr
	DNS     []netip.Addr
	Time    time.Duration
	// Bootfile is option 67 of the ACK without its NUL.
	Bootfile string
}
