package sim

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"rackboot/bmc/sim"
	"rackboot/netboot/firmware"
)

// ServerConfig describes one simulated server.
type ServerConfig struct {
	Name        string
	MAC         string
	Username    string
	Password    string
	Personality sim.Personality
	// DHCP is where the firmware's packets go on loopback, as from a relay; if nil
	// it broadcasts on Interface.
	DHCP      *net.UDPAddr
	Interface string
	// TFTP is where PXE firmware loads from on loopback.
	TFTP netip.AddrPort
	// Speed divides the firmware's DHCP times; 1 is as EDK2.
	Speed float64
	// Post, Install and Shutdown are how long POST, the installer and the
	// operating system's shutdown take.
	Post, Install, Shutdown time.Duration
	Listen                  func() (net.Listener, error) // of the BMC; nil is a free loopback port
	Logger                  *slog.Logger
}

// Server is a simulated server with its BMC.
type Server struct {
	Name string
	MAC  string
	BMC  *sim.BMC
	Disk *sim.Disk
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
	boots := &Boots{}
	disk := &sim.Disk{}
	u := &uefi{config: c, mac: mac, boots: boots, log: c.Logger.With("machine", c.Name)}
	machine := sim.NewSimulated(sim.SimulatedConfig{Post: c.Post, Shutdown: c.Shutdown, Disk: disk, Firmware: u})
	b, err := sim.New(sim.Config{
		Machine: machine, Personality: c.Personality, Username: c.Username, Password: c.Password, Listen: c.Listen, Logger: c.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", c.Name, err)
	}
	return &Server{Name: c.Name, MAC: mac.String(), BMC: b, Disk: disk, Boots: boots, uefi: u}, nil
}

// Close ends the BMC and the machine.
func (s *Server) Close() error { return s.BMC.Close() }
