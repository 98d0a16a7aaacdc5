package sim

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// Boots counts what the firmware of one machine booted.
type Boots struct {
	mu       sync.Mutex
	network  int
	disk     int
	refused  int
	installs int
}

// Counts are network boots that loaded a file, disk boots, network boots that
// were refused, and installations that ran to their end.
func (b *Boots) Counts() (network, disk, refused, installs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.network, b.disk, b.refused, b.installs
}

func (b *Boots) add(n *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*n++
}

// uefi is the firmware of a simulated machine, and the installer in the image
// that it boots: the image writes itself to the disk, reports, and powers off.
type uefi struct {
	config ServerConfig
	mac    net.HardwareAddr
	boots  *Boots
	log    *slog.Logger
}

func (u *uefi) client() *firmware.Client {
	return &firmware.Client{MAC: u.mac, Server: u.config.DHCP, TFTP: u.config.TFTP, Interface: u.config.Interface, Speed: u.config.Speed}
}

// Boot implements sim.Firmware.
func (u *uefi) Boot(ctx context.Context, guest *sim.Guest, target protocol.BootTarget) error {
	switch target {
	case protocol.TargetHdd:
		u.boots.add(&u.boots.disk)
		u.log.Info("booted from disk", "digest", guest.Disk().Digest())
		guest.Running()
		<-ctx.Done()
		return nil
	default:
		load := u.client().PXEBoot
		if target == protocol.TargetUefiHTTP {
			load = u.client().HTTPBoot
		}
		res, err := load(ctx)
		if err != nil {
			u.boots.add(&u.boots.refused)
			u.log.Info("no boot from the network", "err", err)
			return err
		}
		u.boots.add(&u.boots.network)
		u.log.Info("booted from the network", "sha256", res.SHA256, "size", res.Size)
		return u.install(ctx, guest, res.SHA256)
	}
}

// install does what an installer does: gets a lease as an operating system, which
// says where to report, writes the disk, reports and powers off.
func (u *uefi) install(ctx context.Context, guest *sim.Guest, digest string) error {
	guest.Running()
	lease, err := u.lease(ctx)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(u.config.Install):
	}
	guest.Disk().Install("sha256:" + digest)
	u.boots.add(&u.boots.installs)
	if err := u.report(ctx, lease.Bootfile); err != nil {
		u.log.Warn("installed, not reported", "err", err)
		return err
	}
	guest.PowerOff()
	return nil
}

// lease asks again and again, as the DHCP client of an operating system does; firmware
// gives up after its few tries.
func (u *uefi) lease(ctx context.Context) (l firmware.Lease, err error) {
	for range reportTries {
		if l, err = u.client().Plain(ctx); err == nil || ctx.Err() != nil {
			return l, err
		}
		u.log.Info("no lease yet", "err", err)
	}
	return l, err
}

// reportTries bounds how often an installer reports; the agent may be away.
const reportTries = 30

func (u *uefi) report(ctx context.Context, base string) (err error) {
	for range reportTries {
		if err = firmware.Report(ctx, base, string(protocol.EvidenceInstalled)); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return err
}
