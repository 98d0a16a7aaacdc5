package sim

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/integration/powerlog"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Boots counts what the firmware of one machine booted.
type Boots struct {
	mu       sync.Mutex
	network  int
	disk     int
	refused  int
	installs int
	stopped  int
	last     string
	base     string
	digest   string
	leased   netip.Addr
	userData []byte
	dataType string
}

// UserData is what the last installer that read user data was given, and its media type.
func (b *Boots) UserData() (contentType string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dataType, b.userData
}

// Installing is the base URL that the last installer was told, which has the attempt's
// token, and the address that it leased.
func (b *Boots) Installing() (base string, leased netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.base, b.leased
}

// Digest is of what the last network boot ran: sha256:….
func (b *Boots) Digest() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.digest
}

func (b *Boots) installing(lease firmware.Lease, digest string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.base, b.leased, b.digest = lease.Bootfile, lease.Address, digest
}

func (b *Boots) given(contentType string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dataType, b.userData = contentType, data
}

// LastURL is what the last network boot that loaded a file was loaded from; it has the
// attempt's token.
func (b *Boots) LastURL() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

func (b *Boots) loaded(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.network++
	b.last = url
}

// Counts are network boots that loaded a file, disk boots, network boots that
// were refused, and installations that ran to their end.
func (b *Boots) Counts() (network, disk, refused, installs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.network, b.disk, b.refused, b.installs
}

// Stopped is how often the machine stood in a stop image.
func (b *Boots) Stopped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
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
	uuid   [16]byte
	boots  *Boots
	log    *slog.Logger
}

// loadTimeout is longer than firmware's 5 s: many machines and their agents share one host.
const loadTimeout = 40 * time.Second

func (u *uefi) client() *firmware.Client {
	return &firmware.Client{HTTPTimeout: loadTimeout, MAC: u.mac, UUID: u.uuid, Server: u.config.DHCP, TFTP: u.config.TFTP, Interface: u.config.Interface, Speed: u.config.Speed, Roots: u.config.Roots}
}

// client6 is the same over IPv6.
func (u *uefi) client6() *firmware.Client {
	return &firmware.Client{HTTPTimeout: loadTimeout, MAC: u.mac, UUID: u.uuid, Server: u.config.DHCP6, Speed: u.config.Speed}
}

// Boot implements hardware.Firmware.
func (u *uefi) Boot(ctx context.Context, guest *hardware.Guest, target protocol.BootTarget) error {
	switch target {
	case protocol.TargetHdd:
		u.boots.add(&u.boots.disk)
		u.config.Life.Add(powerlog.Disk, guest.Disk().Digest())
		u.log.Info("booted from disk", "digest", guest.Disk().Digest())
		guest.Running()
		<-ctx.Done()
		return nil
	case protocol.TargetCd, targetUsbCd:
		return u.bootMedia(ctx, guest)
	default:
		if uri := guest.BootURI(); uri != "" && target == protocol.TargetUefiHTTP {
			return u.bootURI(ctx, guest, uri)
		}
		load := u.client().PXEBoot
		switch {
		case target == protocol.TargetPxe && u.config.HTTPForPXE:
			load = u.client().HTTPBoot
		case target == protocol.TargetUefiHTTP && u.config.PXEForHTTP:
		case target == protocol.TargetUefiHTTP && u.config.DHCP6 != nil:
			load = u.client6().HTTPv6Boot
		case target == protocol.TargetUefiHTTP:
			load = u.client().HTTPBoot
		}
		res, err := load(ctx)
		if err == nil {
			res, err = u.loaders(ctx, res)
		}
		if errors.Is(err, errStops) {
			return u.stands(ctx, guest)
		}
		if err != nil {
			u.boots.add(&u.boots.refused)
			u.config.Life.Add(powerlog.Refused, string(protocol.CodeOf(err)))
			u.log.Info("no boot from the network", "err", err)
			return err
		}
		u.boots.loaded(res.URL)
		u.config.Life.Add(powerlog.Network, res.URL)
		u.log.Info("booted from the network", "sha256", res.SHA256, "size", res.Size)
		told, _ := configIn(guest)
		return u.install(ctx, guest, res.SHA256, told)
	}
}

// bootURI boots what the BMC says, with nobody asked by DHCP. The installer knows by its
// kernel's arguments where to report.
func (u *uefi) bootURI(ctx context.Context, guest *hardware.Guest, uri string) error {
	res, err := u.client().Fetch(ctx, uri)
	if err != nil {
		u.boots.add(&u.boots.refused)
		u.config.Life.Add(powerlog.Refused, string(protocol.CodeOf(err)))
		u.log.Info("no boot from the URL", "err", err)
		return err
	}
	u.boots.loaded(uri)
	u.config.Life.Add(powerlog.Network, uri)
	u.log.Info("booted from the URL of the BMC", "sha256", res.SHA256, "size", res.Size)
	return u.install(ctx, guest, res.SHA256, &config{base: uri[:strings.LastIndex(uri, "/")+1]})
}

// install does what an installer does: gets a lease as an operating system, which
// says where to report, writes the disk, reports and powers off.
func (u *uefi) install(ctx context.Context, guest *hardware.Guest, digest string, told *config) error {
	guest.Running()
	lease, err := u.told(ctx, told)
	if err != nil {
		return err
	}
	u.boots.installing(lease, "sha256:"+digest)
	if u.config.Live != nil {
		if r := u.config.Live(); r.State != protocol.ProbeInstalled {
			return u.live(ctx, guest, lease, r)
		}
	}
	if told != nil && told.userData != nil {
		u.boots.given(resource.TypeIgnition, told.userData)
	} else if u.config.UserData {
		if err := u.userData(ctx, lease); err != nil {
			return err
		}
	}
	if err := u.installs(ctx); err != nil {
		return err
	}
	guest.Disk().Install("sha256:" + digest)
	u.config.Life.Add(powerlog.Installed, "sha256:"+digest)
	u.boots.add(&u.boots.installs)
	if err := u.report(ctx, lease, protocol.ProbeReport{State: protocol.ProbeInstalled, Inventory: u.inventory()}); err != nil {
		u.log.Warn("installed, not reported", "err", err)
		return err
	}
	guest.PowerOff()
	return nil
}

// installs takes as long as an installation does.
func (u *uefi) installs(ctx context.Context) error {
	finish := u.config.Finish
	var timer <-chan time.Time
	if finish == nil {
		timer = time.After(u.config.Install)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer:
	case <-finish:
	}
	return nil
}

// lease asks again and again, as the DHCP client of an operating system does; firmware
// gives up after its few tries.
func (u *uefi) lease(ctx context.Context) (l firmware.Lease, err error) {
	ask := u.client().Plain
	if u.config.DHCP6 != nil {
		ask = u.client6().Plain6
	}
	for range reportTries {
		if l, err = ask(ctx); err == nil || ctx.Err() != nil {
			return l, err
		}
		u.log.Info("no lease yet", "err", err)
	}
	return l, err
}

// reportTries bounds how often an installer reports; the agent may be away.
const reportTries = 30

// live is an image that installs nothing.
func (u *uefi) live(ctx context.Context, guest *hardware.Guest, lease firmware.Lease, r protocol.ProbeReport) error {
	if r.State == protocol.ProbeDiscovered {
		r.Inventory = u.inventory()
	}
	if r.State != "" {
		if err := u.report(ctx, lease, r); err != nil {
			u.log.Warn("not reported", "state", r.State, "err", err)
		}
	}
	if r.State == protocol.ProbeDiscovered {
		guest.PowerOff()
		return nil
	}
	<-ctx.Done()
	return nil
}

func (u *uefi) inventory() *protocol.HostInventory {
	return &protocol.HostInventory{Interfaces: []protocol.HostInterface{{Name: "eth0", MAC: u.mac.String(), Link: true}}}
}

func (u *uefi) report(ctx context.Context, lease firmware.Lease, r protocol.ProbeReport) (err error) {
	c := u.client()
	c.From = lease.Address
	for range reportTries {
		if err = c.Report(ctx, lease.Bootfile, r); err == nil {
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

// userData reads user data, if there is any, as often as it takes: the agent may be away.
func (u *uefi) userData(ctx context.Context, lease firmware.Lease) (last error) {
	c := u.client()
	c.From = lease.Address
	for range reportTries {
		kind, data, err := c.UserData(ctx, lease.Bootfile)
		switch {
		case err == nil:
			u.boots.given(kind, data)
			return nil
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			return nil
		}
		last = err
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return last
}
