package agent

import (
	"context"
	"fmt"
	"net/netip"
	"time"

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

// Open opens a file of an attempt for a client at remote. That the last one is about to be sent is on disk
// before its first byte is: after a crash nobody must guess whether the server has it.
func (b *boots) Open(remote netip.Addr, token, name string) (*netboot.File, error) {
	const op = "open boot file"
	server, e, ok := b.agent.index.token(token)
	if !ok {
		if server, e, ok = b.agent.index.stop(token); ok {
			return b.openStop(server, e, name)
		}
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	if e.medium != nil && e.medium.Token == token {
		return b.openMedium(remote, server, e, name)
	}
	if !decide.MayFetch(e.held, e.missing, e.attempt, token, name) {
		if s, ok := b.agent.loops.of(server); ok && name == e.attempt.File && !e.attempt.Open() {
			s.saw(decide.Event{Asks: true, At: b.agent.cfg.Clock()}) // by a URL that firmware has kept
		}
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not boot %s now", server, name)
	}
	found, ok := b.lookup(server, e, remote, name)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "%s has no %s to boot", server, name)
	}
	last := e.attempt.IsLast(found.name)
	if last && !e.attempt.Served {
		s, ok := b.agent.loops.of(server)
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

func (b *boots) lookup(server string, e indexed, remote netip.Addr, name string) (served, bool) {
	if c := e.attempt.Chain; c != nil && c.View != "" {
		return b.lookupEnv(server, e, remote, name)
	}
	found, ok := b.agent.lookup(e, remote, name)
	return served{name: name, digest: found.Digest, text: found.Text}, ok
}

func (b *boots) openServed(s served, at time.Time) (*netboot.File, error) {
	switch {
	case s.open != nil:
		return s.open(at)
	case s.digest != "":
		return b.blob(s.digest, s.name, at)
	}
	return rendered(s.text, at), nil
}

// sent records that a file was fetched that was asked for by another name than its own.
func (b *boots) sent(token, name string, remote netip.Addr) func(int64, bool) {
	return func(_ int64, whole bool) {
		if whole {
			b.Record(netboot.Event{Kind: protocol.EvidenceFetched, Token: token, File: name, Remote: remote, At: b.agent.cfg.Clock()})
		}
	}
}

// blob opens a file that is kept.
func (b *boots) blob(digest, name string, at time.Time) (*netboot.File, error) {
	f, size, err := b.agent.cfg.Blobs.Open(digest)
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
func (b *boots) OpenFor(remote netip.Addr, name string) (*netboot.File, error) {
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
func (b *boots) tokenAt(remote netip.Addr) (token string, ok bool) {
	client, ok := b.leased.of(remote, b.agent.cfg.Clock())
	if !ok {
		return "", false
	}
	return b.agent.index.tokenOf(client)
}

// Report takes the report of a booted image. It is on disk when it returns.
func (b *boots) Report(_ context.Context, token string, r protocol.ProbeReport) error {
	const op = "take report"
	server, e, ok := b.agent.index.token(token)
	if !ok || !decide.TakesReport(e.attempt, token) {
		return protocol.Errorf(protocol.CodeNotFound, op, "unknown token")
	}
	s, ok := b.agent.loops.of(server)
	if !ok {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
	}
	now := b.agent.cfg.Clock()
	err := s.keepImage(r, now)
	b.agent.traces.Reported(server, e.attempt, now, r, err)
	if err != nil {
		return err
	}
	return s.fold(decide.Event{Kind: evidenceOf(r.State), Token: token, At: now, Message: r.Message})
}

// evidenceOf is what a report is to a decision.
func evidenceOf(s protocol.ProbeState) protocol.EvidenceKind {
	switch s {
	case protocol.ProbeInstalled:
		return protocol.EvidenceInstalled
	case protocol.ProbeBooted:
		return protocol.EvidenceBooted
	case protocol.ProbeDiscovered:
		return protocol.EvidenceDiscovered
	case protocol.ProbeFailed:
		return protocol.EvidenceFailed
	}
	return ""
}

// Record takes what a boot client was seen to do.
func (b *boots) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched && e.Token == "" {
		e.Token, _ = b.tokenAt(e.Remote) // by a fixed name
	}
	ev := decide.Event{Kind: e.Kind, Class: e.Client.Class, Token: e.Token, File: e.File, At: e.At}
	var server string
	var ok bool
	if e.Token != "" {
		server, _, ok = b.agent.index.token(e.Token)
	} else if e.Client.Class != protocol.ClassNone {
		server, ok = b.agent.index.server(e.Client)
	} else if server, ok = b.agent.index.server(e.Client); ok {
		ok = b.agent.index.waits(server)
	}
	if !ok {
		return
	}
	if s, ok := b.agent.loops.of(server); ok {
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
