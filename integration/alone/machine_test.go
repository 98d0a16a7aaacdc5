//go:build host

package alone

import (
	"context"
	"log/slog"
	"net"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// The account at the BMC.
const (
	bmcUser     = "admin"
	bmcPassword = "secret"
)

// speed is how much faster than real its tries are. An answer to the last of them may take
// eight seconds, which a flood and a busy machine need.
const speed = 4

// machineAt is where the BMC is.
type machineAt struct{ Address, Fingerprint string }

// booted is what came of a boot.
type booted struct {
	SHA256 string
	Took   time.Duration
	Err    string
}

// firm is firmware that stops before it boots from the network, until it is told to.
type firm struct {
	goes   chan struct{}
	client firmware.Client
}

// Boot implements hardware.Firmware.
func (f *firm) Boot(ctx context.Context, guest *hardware.Guest, target protocol.BootTarget) error {
	if err := speak(string(target)); err != nil {
		return err
	}
	select {
	case <-f.goes:
	case <-ctx.Done():
		return ctx.Err()
	}
	load := f.client.HTTPBoot
	if target == protocol.TargetPxe {
		load = f.client.PXEBoot
	}
	var b booted
	r, err := load(ctx)
	if err != nil {
		b.Err = err.Error()
	}
	b.SHA256, b.Took = r.SHA256, r.Duration
	if err := speak(b); err != nil {
		return err
	}
	guest.Running()
	<-ctx.Done()
	return nil
}

// runMachine is the child with the machine and its BMC. It is told to go on, or a MAC
// address to get a lease for.
func runMachine() error {
	mac, err := net.ParseMAC(bootMAC)
	if err != nil {
		return err
	}
	f := &firm{goes: make(chan struct{}, 1), client: firmware.Client{MAC: mac, Interface: clientDevice, Speed: speed, HTTPTimeout: limit}}
	b, err := bmcsim.New(bmcsim.Config{
		Machine:     hardware.NewSimulated(hardware.SimulatedConfig{Post: 50 * time.Millisecond, Shutdown: 50 * time.Millisecond, Firmware: f}),
		Personality: bmcsim.Plain(), Username: bmcUser, Password: bmcPassword,
		Listen: func() (net.Listener, error) { return net.Listen("tcp", bmcAddress) }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := speak(machineAt{b.Address(), b.Fingerprint()}); err != nil {
		return err
	}
	return listen(func(word string) error {
		if word != "go" {
			return speak(lease(word))
		}
		f.goes <- struct{}{}
		return nil
	})
}

// lease gets a lease as the operating system of the machine with a MAC address.
func lease(mac string) (b booted) {
	hw, err := net.ParseMAC(mac)
	if err == nil {
		c := firmware.Client{MAC: hw, Interface: clientDevice, Speed: speed}
		_, err = c.Plain(context.Background())
	}
	if err != nil {
		b.Err = err.Error()
	}
	return b
}
