package boot

import (
	"bytes"
	"fmt"
	"net/netip"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// OpenUserData implements netboot.UserData.
func (b *segment) OpenUserData(remote netip.Addr, token string) (*netboot.File, error) {
	const op = "open user data"
	absent := protocol.Errorf(protocol.CodeNotFound, op, "there is none")
	name, e, ok := b.room.index.token(token)
	if !ok {
		b.room.met.userData.WithLabelValues(string(decide.IgnitionClosed)).Inc()
		return nil, absent
	}
	e.attempt = b.room.index.disputed(name, e.attempt)
	verdict := decide.Ignition(e.held, e.missing, e.attempt, token, b.whose(e, name, remote), b.sealed)
	b.room.met.userData.WithLabelValues(string(verdict)).Inc()
	if !b.room.cfg.Servers.Has(name) || verdict == decide.IgnitionClosed {
		return nil, absent
	}
	if verdict != decide.IgnitionGive || !e.attempt.Marks.Given {
		if err := b.room.cfg.Servers.Fold(name, decide.Event{UserData: verdict, Token: token, At: b.room.cfg.Clock()}); err != nil {
			return nil, err
		}
		b.room.cfg.Crash.At("agent.userdata.given")
	}
	switch verdict {
	case decide.IgnitionGive:
	case decide.IgnitionEarly: // who hears that there is none asks no more
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s was not sent its kernel yet", name)
	default:
		return nil, absent
	}
	// A hold or a report may have come while it was written.
	if _, e, ok = b.room.index.token(token); !ok || decide.Ignition(e.held, e.missing, b.room.index.disputed(name, e.attempt), token, b.whose(e, name, remote), b.sealed) != decide.IgnitionGive {
		return nil, absent
	}
	content, err := b.room.cfg.Files.OpenUserData(name, e.attempt.Order.OwnerUID, *e.attempt.Order.Ignition)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "that of %s: %w", name, err)
	}
	return &netboot.File{
		ReadSeekCloser: &once{bytes.NewReader(content), content}, Size: int64(len(content)), ModTime: e.attempt.At,
		ContentType: resource.TypeIgnition, ETag: fmt.Sprintf("%q", e.attempt.Order.Ignition.Sealed),
	}, nil
}

// once is content that is not to stay in memory when it was read.
type once struct {
	*bytes.Reader
	content []byte
}

// Close overwrites the content.
func (o *once) Close() error {
	clear(o.content)
	return nil
}

// whose says whose an address of the segment is. Where somebody else leases addresses
// too, or clients make their own, one that is not known is nobody's to judge.
func (b *segment) whose(e indexed, server string, remote netip.Addr) decide.Whose {
	if client, ok := b.leased.of(remote, b.room.cfg.Clock()); ok {
		if name, known := b.room.index.server(client); known && name == server {
			return decide.WhoseOwn
		}
		return decide.WhoseOther
	}
	seg, ok := b.room.index.Segment(e.segment)
	if ok && remote.Unmap().Is4() && (seg.Service == nil || seg.Service.Mode == resource.ServiceFull) {
		return decide.WhoseNobody
	}
	return decide.WhoseUnknown
}

// Delivered implements netboot.UserData.
func (b *segment) Delivered(token string) {
	name, _, ok := b.room.index.token(token)
	if !ok || !b.room.cfg.Servers.Has(name) {
		return
	}
	if err := b.room.cfg.Servers.Fold(name, decide.Event{Kind: protocol.EvidenceFetched, File: protocol.FileIgnition, Token: token, At: b.room.cfg.Clock()}); err != nil {
		b.room.cfg.Logger.Error("a delivery of user data was not counted", "server", name, "err", err)
	}
	b.room.cfg.Crash.At("agent.userdata.delivered")
}

var _ netboot.UserData = (*segment)(nil)
