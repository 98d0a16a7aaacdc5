package boot

import (
	"fmt"
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// segment implements netboot.Files, netboot.AddressFiles and netboot.Evidence on the
// room's state, for one segment.
type segment struct {
	room   *Room
	leased *leased
	sealed bool // it is asked by HTTPS
}

// Open opens a file of an attempt for a client at remote. That the last one is about to be sent is on disk
// before its first byte is: after a crash nobody must guess whether the server has it.
func (b *segment) Open(remote netip.Addr, token, name string) (*netboot.File, error) {
	const op = "open boot file"
	server, e, ok := b.room.index.token(token)
	if !ok {
		if server, e, ok = b.room.index.stop(token); ok {
			return b.openStop(server, e, name)
		}
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	if e.medium != nil && e.medium.Token == token {
		return b.openMedium(remote, server, e, name)
	}
	if !decide.MayFetch(e.held, e.missing, e.attempt, token, name) {
		if name == e.attempt.Order.File && !e.attempt.Open() {
			b.room.cfg.Servers.Saw(server, decide.Event{Asks: true, At: b.room.cfg.Clock()}) // by a URL that firmware has kept
		}
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not boot %s now", server, name)
	}
	found, ok := b.lookup(server, e, remote, token, name)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "%s has no %s to boot", server, name)
	}
	if !e.attempt.Marks.Opened {
		b.room.cfg.Servers.Saw(server, decide.Event{Opened: true, Token: token, At: b.room.cfg.Clock()})
	}
	last := e.attempt.IsLast(found.name)
	if last && e.attempt.Order.Purpose == resource.PurposeDiscovery {
		b.room.cfg.TPMs.Void(server)
	}
	if last && !e.attempt.Marks.Served {
		if !b.room.cfg.Servers.Has(server) {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
		}
		if err := b.room.cfg.Servers.Fold(server, decide.Event{Begun: true, Token: token, At: b.room.cfg.Clock()}); err != nil {
			return nil, err
		}
		if _, e, _ = b.room.index.token(token); !decide.MayFetch(e.held, e.missing, e.attempt, token, name) {
			return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not boot %s now", server, name)
		}
	}
	f, err := b.openServed(found, e.attempt.At)
	if err == nil && found.name != name {
		f.Sent = b.sent(token, found.name, remote)
	}
	return f, err
}

// served is what a name means to a boot. name is the one that the file has in the chain:
// it may be asked for by others.
type served struct {
	name   string
	digest string                                    // of a file that is kept
	text   string                                    // of one that is rendered
	open   func(at time.Time) (*netboot.File, error) // of one in a view
}

func (b *segment) lookup(server string, e indexed, remote netip.Addr, token, name string) (served, bool) {
	if c := e.attempt.Order.Chain; c != nil && c.View != "" {
		return b.lookupEnv(server, e, remote, token, name)
	}
	found, ok := b.room.lookup(e, remote, token, name)
	return served{name: name, digest: found.Digest, text: found.Text}, ok
}

func (b *segment) openServed(s served, at time.Time) (*netboot.File, error) {
	switch {
	case s.open != nil:
		return s.open(at)
	case s.digest != "":
		return b.blob(s.digest, s.name, at)
	}
	return rendered(s.text, at), nil
}

// sent records that a file was fetched that was asked for by another name than its own.
func (b *segment) sent(token, name string, remote netip.Addr) func(int64, bool) {
	return func(_ int64, whole bool) {
		if whole {
			b.Record(netboot.Event{Kind: protocol.EvidenceFetched, Token: token, File: name, Remote: remote, At: b.room.cfg.Clock()})
		}
	}
}

// blob opens a file that is kept.
func (b *segment) blob(digest, name string, at time.Time) (*netboot.File, error) {
	f, size, err := b.room.cfg.Blobs.Open(digest)
	if err != nil {
		return nil, err
	}
	return &netboot.File{
		ReadSeekCloser: f, Size: size, ModTime: at,
		ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", digest),
	}, nil
}

// OpenFor opens the boot file of the open attempt of the machine that has the
// address. Firmware that was given a path with a token asks by that; fixed names are
// those that loaders make up.
func (b *segment) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	token, ok := b.tokenAt(remote)
	if !ok {
		token, ok = b.stopAt(remote)
	}
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open boot file", "no boot is open for the address")
	}
	f, err := b.Open(remote, token, name)
	if err == nil {
		f.Token = token
	}
	return f, err
}

// tokenAt is the token of the open attempt of the machine that has an address.
func (b *segment) tokenAt(remote netip.Addr) (token string, ok bool) {
	client, ok := b.leased.of(remote, b.room.cfg.Clock())
	if !ok {
		return "", false
	}
	return b.room.index.tokenOf(client)
}

// Record takes what a boot client was seen to do.
func (b *segment) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched && e.Token == "" {
		e.Token, _ = b.tokenAt(e.Remote) // by a fixed name
	}
	ev := decide.Event{Kind: e.Kind, Class: e.Client.Class, Token: e.Token, File: e.File, At: e.At}
	var server string
	var ok bool
	if e.Token != "" {
		server, _, ok = b.room.index.token(e.Token)
	} else if e.Client.Class != protocol.ClassNone {
		server, ok = b.room.index.asks(e.Client)
	} else if server, ok = b.room.index.server(e.Client); ok {
		ok = b.room.index.waits(server)
	}
	if !ok {
		return
	}
	b.room.cfg.Servers.Saw(server, ev)
}

var (
	_ netboot.Files        = (*segment)(nil)
	_ netboot.AddressFiles = (*segment)(nil)
	_ netboot.Evidence     = (*segment)(nil)
	_ netboot.Resolver     = (*Index)(nil)
	_ netboot.Servicer     = (*Index)(nil)
)
