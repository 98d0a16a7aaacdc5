package sim

import (
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/powerlog"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// ServerConfig describes one simulated server.
type ServerConfig struct {
	Name string
	MAC  string
	// UUID is what its BMC shows and its firmware sends. Empty is firmware that sends none, and
	// a BMC that shows one made of the MAC address.
	UUID        string
	Username    string
	Password    string
	Personality sim.Personality
	// Roots are the authorities that firmware, and its system, trust for https boot URLs.
	Roots *x509.CertPool
	// DHCP is where the firmware's packets go on loopback, as from a relay; if nil
	// it broadcasts on Interface.
	DHCP      *net.UDPAddr
	Interface string
	// DHCP6 is the same for a machine that boots by HTTP over IPv6, and whose system has
	// IPv6 too; nil for one that does not.
	DHCP6 *net.UDPAddr
	// TFTP is where PXE firmware loads from on loopback.
	TFTP netip.AddrPort
	// Speed divides the firmware's DHCP times; 1 is as EDK2.
	Speed float64
	// Order is what firmware tries without an override, in order; empty is the EFI shell.
	Order []protocol.BootTarget
	// StopAfter is the time in the stop image that the server may be given.
	StopAfter time.Duration
	// UserData has the installer read user data before it installs, if there is any.
	UserData bool
	// Live makes what is booted from the network an image that installs nothing: it
	// reports what Live says, and after discovered powers itself off. An empty state
	// reports nothing. nil is an installer, and installed is one this time.
	Live func() protocol.ProbeReport
	// HTTPForPXE is firmware that takes an order of Pxe for UEFI HTTP boot.
	HTTPForPXE bool
	// PXEForHTTP is firmware that takes an order of UefiHttp for PXE, unless its BMC has a URL.
	PXEForHTTP bool
	// Installed is the digest of what is on the disk at first; empty is nothing.
	Installed string
	// Post, Install and Shutdown are how long POST, the installer and the
	// operating system's shutdown take.
	Post, Install, Shutdown time.Duration
	// Finish is what the installer waits for, instead of Install; nil is not.
	Finish <-chan struct{}
	Listen func() (net.Listener, error) // of the BMC; nil is a free loopback port
	// Life is what the machine writes of itself; nil is nothing.
	Life   *powerlog.Writer
	Logger *slog.Logger
}

// Server is a simulated server with its BMC.
type Server struct {
	Name string
	MAC  string
	BMC  *sim.BMC
	Disk *hardware.Disk
	// Boots counts what firmware booted.
	Boots *Boots
	uefi  *uefi
}

// firmware is another UEFI client with the server's address, for asking as its
// firmware would.
func (s *Server) firmware() *firmware.Client { return s.uefi.client() }

// StartServer starts the BMC; the machine is off.
func StartServer(c ServerConfig) (*Server, error) {
	mac, err := net.ParseMAC(c.MAC)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", c.Name, err)
	}
	sent, err := uuidOf(c.UUID)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", c.Name, err)
	}
	boots := &Boots{}
	disk := &hardware.Disk{}
	disk.Install(c.Installed)
	u := &uefi{config: c, mac: mac, uuid: sent, boots: boots, log: c.Logger.With("machine", c.Name)}
	machine := hardware.NewSimulated(hardware.SimulatedConfig{
		Post: c.Post, Shutdown: c.Shutdown, Disk: disk, Firmware: u, Order: c.Order, Changed: lived(c.Life),
	})
	b, err := sim.New(sim.Config{
		Machine: machine, Personality: c.Personality, Identity: identity(mac, c.UUID), Username: c.Username, Password: c.Password, Listen: c.Listen, Fetches: true, Logger: c.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", c.Name, err)
	}
	return &Server{Name: c.Name, MAC: mac.String(), BMC: b, Disk: disk, Boots: boots, uefi: u}, nil
}

// Close ends the BMC and the machine.
func (s *Server) Close() error { return s.BMC.Close() }

// identity is what the BMC says of a machine. Without a UUID of its own, one follows from
// its MAC address: two machines with one UUID would be one host.
func identity(mac net.HardwareAddr, uuid string) tree.Identity {
	if uuid == "" {
		uuid = fmt.Sprintf("3f1c9a52-0000-4000-8000-%x", []byte(mac))
	}
	return tree.Identity{MAC: mac.String(), UUID: uuid}
}

// uuidOf reads a UUID as firmware sends it, in the order in which it is written (RFC 4122).
func uuidOf(text string) (u [16]byte, err error) {
	if text == "" {
		return u, nil
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(u) {
		return u, fmt.Errorf("%q is no UUID", text)
	}
	return [16]byte(raw), nil
}
