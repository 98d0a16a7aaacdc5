package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// demoRack is what is simulated: servers with their BMCs, and a registry.
type demoRack struct {
	servers []*Server
	reg     *Registry
	systems systems
	log     *os.File
}

// start starts so many servers, whose packets go to an address, and the registry.
func (r *demoRack) start(servers int, to, logFile string) error {
	var err error
	if r.log, err = os.Create(logFile); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	dhcp, err := net.ResolveUDPAddr("udp4", to)
	if err != nil {
		return err
	}
	personality := sim.Plain()
	personality.PowerOnDelay, personality.PowerOffDelay = 300*time.Millisecond, 300*time.Millisecond
	for i := range servers {
		s, err := StartServer(ServerConfig{
			Name: fmt.Sprintf("server-%d", i+1), MAC: fmt.Sprintf("52:54:00:dd:00:%02x", i+1), Username: "demo", Password: "demo",
			Personality: personality, DHCP: dhcp, Speed: 8,
			Post: time.Second, Install: time.Second, Shutdown: 500 * time.Millisecond, Logger: log,
			Live: func() protocol.ProbeReport { return r.systems.run(r.servers[i]) },
		})
		if err != nil {
			return err
		}
		r.servers = append(r.servers, s)
	}
	r.reg, err = StartRegistry("127.0.0.1:0")
	return err
}

func (r *demoRack) close() error {
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.Close())
	}
	if r.reg != nil {
		errs = append(errs, r.reg.Close())
	}
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	return errors.Join(errs...)
}

// push puts an image into the registry, and returns its reference and the digest of what
// boots of it.
func (r *demoRack) push(name string) (reference, digest string, err error) {
	uki := demoUKI(name)
	reference, err = r.reg.Push("demo/"+name, uki)
	return reference, digestOfUKI(name), err
}

// demoUKI is an image of a name. The simulated firmware runs no code.
func demoUKI(name string) []byte {
	return UKI(bytes.Repeat([]byte("demo unified kernel image of "+name+" "), 150_000))
}

// digestOfUKI is of what boots of an image of a name.
func digestOfUKI(name string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(demoUKI(name))) }

// withSystem is the server that was installed.
func (r *demoRack) withSystem() *Server {
	for _, s := range r.servers {
		if s.Disk.Digest() != "" {
			return s
		}
	}
	return r.servers[0]
}

// staysOff watches the claimed server, which somebody holds.
func (r *demoRack) staysOff(ctx context.Context) (string, error) {
	held := r.withSystem()
	watch := time.Now().Add(watchReleased)
	err := until(ctx, func() (bool, error) {
		if p := held.BMC.PowerState(); p != protocol.PowerOff {
			return false, fmt.Errorf("%s is %s under its hold", held.Name, p)
		}
		return time.Now().After(watch), nil
	})
	return fmt.Sprintf("watched for %s", watchReleased), err
}

func (r *demoRack) neverOn(context.Context) (string, error) {
	for _, s := range r.servers {
		if p := s.BMC.PowerState(); p != protocol.PowerOff {
			return "", fmt.Errorf("%s is %s", s.Name, p)
		}
	}
	return "as the BMC says", nil
}

// run waits until every server runs a version of os, from the network.
func (r *demoRack) run(version string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		want := digestOfUKI("os:" + version)
		var not []string
		err := until(ctx, func() (bool, error) {
			not = nil
			for _, s := range r.servers {
				if s.Boots.Digest() != want || s.BMC.PowerState() != protocol.PowerOn {
					not = append(not, s.Name)
				}
			}
			return len(not) == 0, nil
		})
		if err != nil {
			err = fmt.Errorf("%w: not %s", err, strings.Join(not, ", "))
		}
		return fmt.Sprintf("%d servers run %s", len(r.servers), want[:19]), err
	}
}

// disks waits until the installed server has booted from its disk that often, and runs.
func (r *demoRack) disks(times int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		s := r.withSystem()
		err := until(ctx, func() (bool, error) {
			_, disk, _, _ := s.Boots.Counts()
			return disk == times && s.BMC.PowerState() == protocol.PowerOn, nil
		})
		return s.Name, err
	}
}

func (r *demoRack) discarded(ctx context.Context) (string, error) {
	err := until(ctx, func() (bool, error) { return r.servers[0].Disk.Digest() == "", nil })
	if err != nil {
		return "", fmt.Errorf("the disk has %s: %w", r.servers[0].Disk.Digest(), err)
	}
	return "server-1, vda discarded", nil
}

// heldFor is how long the demo watches a held server without its hub.
const heldFor = 3 * time.Second

// stillHeld watches the held server, and lets its firmware ask for a boot.
func (r *demoRack) stillHeld(ctx context.Context) (string, error) {
	var held *Server
	for _, s := range r.servers {
		if s.Disk.Digest() != "" {
			held = s
		}
	}
	watch := time.Now().Add(heldFor)
	if err := until(ctx, func() (bool, error) {
		if p := held.BMC.PowerState(); p != protocol.PowerOff {
			return false, fmt.Errorf("%s is %s under its hold", held.Name, p)
		}
		return time.Now().After(watch), nil
	}); err != nil {
		return "", err
	}
	if _, err := held.firmware().HTTPBoot(ctx); !errors.Is(err, firmware.ErrRefused) {
		return "", fmt.Errorf("its firmware asked for a boot and got %w, not a refusal", err)
	}
	return held.Name + " is Off, and its firmware is refused", nil
}

// count compares what the simulated firmware counted on all servers.
func (r *demoRack) count(wantNetwork, wantDisk int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var network, disk, installs int
		// The agent may know of a boot before firmware has ended its last line.
		err := until(ctx, func() (bool, error) {
			network, disk, installs = 0, 0, 0
			for _, s := range r.servers {
				n, k, _, i := s.Boots.Counts()
				network, disk, installs = network+n, disk+k, installs+i
			}
			return disk >= wantDisk, nil
		})
		if err != nil || network != wantNetwork || disk != wantDisk || installs != 1 {
			return "", fmt.Errorf("%d network boots, %d disk boots, %d installations", network, disk, installs)
		}
		return "counted by the simulated firmware", nil
	}
}
