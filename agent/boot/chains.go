package boot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"rackboot/agent/loaders"
	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// openTimeout bounds reading the loaders when the agent starts.
const openTimeout = time.Minute

// openLoaders reads the boot loaders of the agent's file.
func (r *Room) openLoaders() (*loaders.Loaders, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	return loaders.New(ctx, loaders.Config{
		Folders: r.cfg.Loaders, Blobs: r.cfg.Blobs, Store: r.cfg.Store.Loaders, Changed: r.loadersChanged,
		Failed: func(err error) {
			if err == nil {
				r.cfg.Reports.Clear(resource.CondLoadersInvalid)
				return
			}
			r.cfg.Reports.Raise(resource.CondLoadersInvalid, err.Error())
		},
		Clock: r.cfg.Clock, Logger: r.cfg.Logger, Registerer: r.cfg.Registerer,
	})
}

// Chain is what a server would boot its image through now. What it names is local.
func (r *Room) Chain(in message.ServerIntent) (protocol.BootChain, error) {
	var local LocalSegment
	if i := slices.IndexFunc(r.cfg.Segments, func(s LocalSegment) bool { return s.Name == in.Segment }); i >= 0 {
		local = r.cfg.Segments[i]
	}
	seg, _ := r.index.Segment(in.Segment) // of an unknown one nothing is served
	if in.Boot.Env != nil {
		return r.cfg.Files.Chain(local.request(seg, in, r.loaders.Set()[in.Architecture]), in)
	}
	c, err := local.bootChain(seg, in, r.loaders.Set()[in.Architecture])
	c.Ignition = in.Boot.Ignition != nil
	return c, err
}

// bootChain is the chain of a server on the segment.
func (l LocalSegment) bootChain(seg resource.SegmentIntent, in message.ServerIntent, have chain.Loaders) (protocol.BootChain, error) {
	return chain.Choose(l.request(seg, in, have))
}

// request is what the choice of a chain depends on. By which address family firmware
// will ask, nobody knows before it does. IPv6 counts only where the agent serves it:
// nobody else tells machines what to boot over it.
func (l LocalSegment) request(seg resource.SegmentIntent, in message.ServerIntent, have chain.Loaders) chain.Request {
	if seg.IPv6 != nil && (!l.DHCP6.IsValid() || seg.IPv6.Mode == resource.IPv6None) {
		seg.IPv6 = nil
	}
	return chain.Request{
		Method: in.Boot.BootPolicy.FirstBoot, Any: in.Boot.BootPolicy.Network.Any(), Architecture: in.Architecture, Image: in.Boot.Image, Loaders: have, Prefer: l.Chain,
		TFTP: l.TFTP.IsValid() || seg.IPv6 != nil && l.TFTP6.IsValid(), HTTPS: chain.HTTPS(seg),
	}
}

// lookup says what an attempt has under a name, for a client at remote: what is
// rendered names addresses of the family that it came by.
func (r *Room) lookup(e indexed, remote netip.Addr, token, name string) (chain.Found, bool) {
	at := e.attempt
	if at.Order.Chain == nil { // of a release that served one file
		return chain.Found{Digest: at.Order.Blob}, name == at.Order.File
	}
	seg, ok := r.index.Segment(e.segment)
	if !ok || at.Order.Chain.Kind == protocol.ChainISO { // the BMC has a token of its own
		return chain.Found{}, false
	}
	base, err := netboot.BaseURLFor(seg, remote)
	if err != nil {
		return chain.Found{}, false
	}
	return chain.Lookup(at.Chain(token), base, token, name)
}

// text is a file that was rendered.
type text struct{ *bytes.Reader }

// Close does nothing.
func (text) Close() error { return nil }

func rendered(content string, at time.Time) *netboot.File {
	return &netboot.File{
		ReadSeekCloser: text{bytes.NewReader([]byte(content))}, Size: int64(len(content)), ModTime: at,
		ContentType: netboot.TypeOther, ETag: fmt.Sprintf("%q", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))),
	}
}

var _ io.ReadSeekCloser = text{}
