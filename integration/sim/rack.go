package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/powerlog"
	"rackboot/protocol"
)

// MachineAddress is what RunRack prints of each machine, one JSON object a line.
type MachineAddress struct {
	Name        string `json:"name"`
	Address     string `json:"address"`     // https://host:port
	Fingerprint string `json:"fingerprint"` // sha256:<hex>
}

// Of a simulated machine: how long the installer and the system's shutdown take by default.
const (
	simulatedInstall  = time.Second
	simulatedShutdown = time.Second
)

// RunRack serves the machines' BMCs until ctx ends, and then takes the machines
// down. It prints their addresses once all are up.
func RunRack(ctx context.Context, c RackConfig, out io.Writer, log *slog.Logger) (err error) {
	var closers []func() error
	defer func() {
		for _, c := range slices.Backward(closers) {
			err = errors.Join(err, c())
		}
	}()
	var addresses []MachineAddress
	var press []func()
	for _, m := range c.Machines {
		life, err := m.life()
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
		closers = append(closers, life.close)
		b, err := m.start(life, log)
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
		closers = append(closers, b.Close)
		press = append(press, func() {
			life.log.Add(powerlog.Button, "")
			b.PressPowerButton()
		})
		addresses = append(addresses, MachineAddress{m.Name, b.Address(), b.Fingerprint()})
	}
	if err := c.Manifests.write(c.Machines, addresses); err != nil {
		return fmt.Errorf("write the manifests: %w", err)
	}
	encoder := json.NewEncoder(out)
	for _, a := range addresses {
		if err := encoder.Encode(a); err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.Buttons:
			for _, p := range press {
				p()
			}
		}
	}
}

func (m *MachineConfig) start(life life, log *slog.Logger) (*sim.BMC, error) {
	username, password, err := m.account()
	if err != nil {
		return nil, err
	}
	personality := sim.Plain()
	if m.Drives == 2 {
		personality.Tree = tree.TwoDrives()
	}
	if m.Capture != "" {
		if personality, err = captured(m.Capture); err != nil {
			return nil, err
		}
	}
	listen := func() (net.Listener, error) { return net.Listen("tcp", m.BMC) }
	if m.Kind == KindSimulated {
		var dhcp *net.UDPAddr
		if m.Simulated.DHCP != "" {
			if dhcp, err = net.ResolveUDPAddr("udp4", m.Simulated.DHCP); err != nil {
				return nil, err
			}
		}
		var live func() protocol.ProbeReport
		if m.Simulated.Live {
			live = func() protocol.ProbeReport { return protocol.ProbeReport{State: protocol.ProbeBooted} }
		}
		s, err := StartServer(ServerConfig{
			Name: m.Name, MAC: m.MAC, Username: username, Password: password, Personality: personality,
			Interface: m.Simulated.Interface, DHCP: dhcp, Speed: m.Simulated.Speed, Post: m.Post, Install: m.Simulated.Install, Shutdown: m.Simulated.Shutdown,
			Installed: life.disk, Life: life.log, Live: live, Listen: listen, Logger: log,
		})
		if err != nil {
			return nil, err
		}
		return s.BMC, nil
	}
	log = log.With("machine", m.Name)
	machine, err := hardware.NewQEMU(hardware.QEMUConfig{
		Dir: m.QEMU.Dir, Code: m.QEMU.Code, Vars: m.QEMU.Vars, Disk: m.QEMU.Disk, Tap: m.QEMU.Tap, MAC: m.MAC, UUID: m.QEMU.UUID, SecureBoot: m.QEMU.SecureBoot, Authorities: m.QEMU.Authorities, MemoryMiB: m.QEMU.MemoryMiB, Post: m.Post, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	mac, err := net.ParseMAC(m.MAC)
	if err != nil {
		return nil, err
	}
	return sim.New(sim.Config{
		Machine: machine, Personality: personality, Identity: identity(mac, m.QEMU.UUID), Username: username, Password: password, Listen: listen, Fetches: true, Logger: log,
	})
}
