package agent

import (
	"context"
	"fmt"
	"net/netip"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// boots implements netboot.Files, netboot.AddressFiles and netboot.Evidence on the
// agent's state, for one segment.
type boots struct {
	agent  *Agent
	leased *leased
}

// Open opens the boot file of an attempt. That it is about to be sent is on disk
// before the first byte is: after a crash nobody must guess whether the server
// has it.
func (b *boots) Open(token, name string) (*netboot.File, error) {
	const op = "open boot file"
	server, e, ok := b.agent.index.token(token)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	if !decide.MayFetch(e.held, e.missing, e.attempt, token, name) {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not boot %s now", server, name)
	}
	if !e.attempt.Served {
		s, ok := b.agent.server(server)
		if !ok {
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
		}
		if err := s.fold(decide.Event{Begun: true, Token: token, At: b.agent.cfg.Clock()}); err != nil {
			return nil, err
		}
		if _, e, _ = b.agent.index.token(token); !decide.MayFetch(e.held, e.missing, e.attempt, token, name) {
			return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not boot %s now", server, name)
		}
	}
	f, size, err := b.agent.cfg.Blobs.Open(e.attempt.Blob)
	if err != nil {
		return nil, err
	}
	return &netboot.File{
		ReadSeekCloser: f, Size: size, ModTime: e.attempt.At,
		ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", e.attempt.Blob),
	}, nil
}

// OpenFor opens the boot file of the open attempt of the machine that has the
// address. Firmware that was given a path with a token asks by that; fixed names are
// those that loaders make up.
func (b *boots) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
	token, ok := b.tokenAt(remote)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open boot file", "no boot is open for the address")
	}
	f, err := b.Open(token, name)
	if err == nil {
		f.Token = token
	}
	return f, err
}

// tokenAt is the token of the open attempt of the machine that has an address.
func (b *boots) tokenAt(remote netip.Addr) (token string, ok bool) {
	mac := b.leased.of(remote, b.agent.cfg.Clock())
	if mac == "" {
		return "", false
	}
	return b.agent.index.tokenOf(mac)
}

// Report takes the report of a booted image. It is on disk when it returns.
func (b *boots) Report(_ context.Context, token, what string) error {
	const op = "take report"
	server, e, ok := b.agent.index.token(token)
	if !ok || !decide.TakesReport(e.attempt, token) {
		return protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	if what != string(protocol.EvidenceInstalled) {
		return nil // booted is a hint; nothing rests on it
	}
	s, ok := b.agent.server(server)
	if !ok {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
	}
	return s.fold(decide.Event{Kind: protocol.EvidenceInstalled, Token: token, At: b.agent.cfg.Clock()})
}

// Record takes what a boot client was seen to do.
func (b *boots) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched && e.Token == "" {
		e.Token, _ = b.tokenAt(e.Remote) // by a fixed name
	}
	ev := decide.Event{Kind: e.Kind, Class: e.Client.Class, Token: e.Token, At: e.At}
	var server string
	var ok bool
	if e.Token != "" {
		server, _, ok = b.agent.index.token(e.Token)
	} else if e.Client.Class != protocol.ClassNone {
		server, ok = b.agent.index.server(e.Client)
	}
	if !ok {
		return
	}
	if s, ok := b.agent.server(server); ok {
		s.saw(ev)
	}
}

var (
	_ netboot.Files        = (*boots)(nil)
	_ netboot.AddressFiles = (*boots)(nil)
	_ netboot.Evidence     = (*boots)(nil)
	_ netboot.Resolver     = (*index)(nil)
	_ netboot.Servicer     = (*index)(nil)
)
