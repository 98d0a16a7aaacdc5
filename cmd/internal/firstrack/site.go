package firstrack

import (
	"fmt"
	"net/netip"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Site is what the files say.
type Site struct {
	Rack string
	// Address is the agent's on the boot network, with the length of the network's prefix.
	Address netip.Prefix
	// Interface is where it is, at the agent; none is needed on loopback.
	Interface string
	Router    netip.Addr // of the boot network; invalid is none
	HTTPPort  uint16     // of boot URLs
	Image     string     // of the claim to try
	// Local has hub and agent run on this host out of the folder, without root.
	Local   bool
	Dir     string // absolute
	Account resource.BMCAccount
	Hosts   []Host
}

// Host is one server and its BMC.
type Host struct {
	Name    string
	Address string // https://host[:port] of the BMC
	TLS     resource.BMCTLS
	// System is what the BMC says of it; without that BootMAC is as it was given.
	System  protocol.Inventory
	BootMAC string
}

// The ports of a local site: those that are usual, or like them above 1024.
const (
	localAPI     = "127.0.0.1:8443"
	localMQTT    = "127.0.0.1:8883"
	localDHCP    = 6767
	usualHTTP    = 8080
	serviceUser  = "rackboot-agent" // of the agent's unit
	agentFile    = "/etc/rackboot/agent.yaml"
	accounts     = "/etc/rackboot/credentials"
	agentDataDir = "/var/lib/rackboot-agent"
)

// DefaultImage stands in the claim where no image was named.
const DefaultImage = "registry.example.com/os:1"

// MaxRack bounds a rack's name, which other names begin with.
const MaxRack = 40

// claim is the name of the claim to try. Names have the rack's in them, so that the files of
// the next rack are about others.
func (s *Site) claim() string { return "try-" + s.Rack }

// Defaults fills what follows from the rest.
func (s *Site) Defaults() {
	if s.HTTPPort == 0 {
		s.HTTPPort = usualHTTP
	}
	if s.Image == "" {
		s.Image = DefaultImage
	}
}

func (s *Site) segment() string { return s.Rack + "-boot" }

func (h Host) bmc() string { return h.Name + "-bmc" }

// Pool is the range of addresses that are leased: a hundred of those around the agent's,
// from .100 or .101 on, or the upper half of a smaller network. The agent's own is not in it.
func (s *Site) Pool() (from, to netip.Addr, err error) {
	a := s.Address.Addr()
	if !s.Address.IsValid() || !a.Is4() || s.Address.Bits() > 29 {
		return from, to, fmt.Errorf("%s leaves no addresses to lease; give an IPv4 address and its prefix length, such as 10.7.0.2/24", s.Address)
	}
	b := a.As4()
	first, last := uint8(100), uint8(199)
	if bits := s.Address.Bits(); bits > 24 {
		size := uint8(1) << (32 - bits)
		base := b[3] &^ (size - 1)
		first, last = base+size/2, base+size-2
	}
	if b[3] >= first && b[3] <= last {
		if b[3]-first > last-b[3] {
			last = b[3] - 1
		} else {
			first = b[3] + 1
		}
	}
	at := func(d uint8) netip.Addr { return netip.AddrFrom4([4]byte{b[0], b[1], b[2], d}) }
	return at(first), at(last), nil
}

// mac is the address that a host boots from.
func (h Host) mac() string {
	if h.BootMAC != "" {
		return h.BootMAC
	}
	return h.System.BootMAC()
}

// agentPath is a path on the agent's host.
func (s *Site) agentPath(usual string, local ...string) string {
	if !s.Local {
		return usual
	}
	return filepath.Join(append([]string{s.Dir}, local...)...)
}
