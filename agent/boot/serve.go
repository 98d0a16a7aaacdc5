package boot

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/dhcp6"
	"rackboot/netboot/httpboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
)

// bootServer answers until ctx ends. Its socket is open.
type bootServer interface {
	Run(ctx context.Context) error
}

// Listeners are the boot servers of all segments, with their sockets open.
type Listeners struct{ all []bootServer }

// Run answers until ctx ends.
func (l *Listeners) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range l.all {
		group.Go(func() error { return s.Run(ctx) })
	}
	return group.Wait()
}

// Listen opens the boot servers' sockets, so that a busy port is a start-up
// error. They answer nothing before the agent has synced. hooks answers BMCs that send
// events.
func (r *Room) Listen(hooks http.Handler) (open *Listeners, err error) {
	open = &Listeners{}
	for _, seg := range r.cfg.Segments {
		reg := prometheus.WrapRegistererWith(prometheus.Labels{"segment": seg.Name}, r.cfg.Registerer)
		log := r.cfg.Logger.With("segment", seg.Name)
		files := &segment{room: r, leased: newLeased()}
		load(files.leased, r.cfg.Store.Leases4, seg.Name, tenant4)
		load(files.leased, r.cfg.Store.Leases6, seg.Name, tenant6)
		web := func(at, at6 netip.AddrPort, certificates netboot.Certificates) error {
			files := &segment{room: r, leased: files.leased, sealed: certificates != nil}
			s, err := httpboot.New(httpboot.Config{
				Listen: at, Listen6: at6, Certificates: certificates, Files: files, AddressFiles: files, UserData: files, Enrolment: files, Attestation: files, Evidence: files, Events: hooks, Trace: files.trace,
				Logger: log, Registerer: reg, Clock: r.cfg.Clock,
			})
			if err == nil {
				open.all = append(open.all, s)
			}
			return err
		}
		if err := web(seg.HTTP, seg.HTTP6, nil); err != nil {
			return nil, err
		}
		if seg.HTTPS.IsValid() || seg.HTTPS6.IsValid() {
			if err := web(seg.HTTPS, seg.HTTPS6, r.cfg.Certificates); err != nil {
				return nil, err
			}
		}
		if seg.TFTP.IsValid() || seg.TFTP6.IsValid() {
			s, err := tftp.New(tftp.Config{
				Segment: seg.Name, Listen: seg.TFTP, Listen6: seg.TFTP6, Interface: seg.Interface, Files: files, Evidence: files, Trace: files.trace,
				Logger: log, Registerer: r.cfg.Registerer, Clock: r.cfg.Clock,
			})
			if err != nil {
				return nil, err
			}
			open.all = append(open.all, s)
		}
		d, err := dhcp.New(dhcp.Config{
			Segment: seg.Name, Listen: seg.DHCP, Interface: seg.Interface, Resolver: r.index, Leases: r.cfg.Store.Leases4,
			Evidence: files, Trace: files.trace, Notify: r.notices.take, Logger: log, Registerer: r.cfg.Registerer, Clock: r.cfg.Clock,
			Granted: func(l netboot.Lease) {
				files.leased.note(tenant4(l))
				r.cfg.Finder.Leased(l)
				r.fed(l.MAC)
			},
			Ended: func(l netboot.Lease) { r.ended(files.leased, tenant4(l)) },
		})
		if err != nil {
			return nil, err
		}
		open.all = append(open.all, d)
		if !seg.DHCP6.IsValid() {
			continue
		}
		d6, err := dhcp6.New(dhcp6.Config{
			Segment: seg.Name, Listen: seg.DHCP6, Interface: seg.Interface, DUID: dhcp6.DUID(r.cfg.Agent + "/" + seg.Name),
			Resolver: r.index, Leases: r.cfg.Store.Leases6, Evidence: files, Trace: files.trace, Notify: r.notices.take,
			Logger: log, Registerer: r.cfg.Registerer, Clock: r.cfg.Clock,
			Granted: func(l netboot.Lease6) {
				files.leased.note(tenant6(l))
				r.fed(l.MAC)
			},
			Ended: func(l netboot.Lease6) { r.ended(files.leased, tenant6(l)) },
		})
		if err != nil {
			return nil, err
		}
		open.all = append(open.all, d6)
	}
	return open, nil
}

// ended takes that a client has an address no more. Anybody can say so for a server whose boot
// is under way: its address stays its own until the lease would have run out, or another
// machine is given it.
func (r *Room) ended(l *leased, t tenant) {
	if _, a := r.index.attemptOf(protocol.BootClient{MAC: t.mac, UUID: t.uuid}); a.Open() && a.Network() {
		return
	}
	l.end(t)
}
