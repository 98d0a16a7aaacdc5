package agent

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
func (b *boots) OpenUserData(remote netip.Addr, token string) (*netboot.File, error) {
	const op = "open user data"
	absent := protocol.Errorf(protocol.CodeNotFound, op, "there is none")
	name, e, ok := b.agent.index.token(token)
	if !ok {
		b.agent.met.userData.WithLabelValues(string(decide.IgnitionClosed)).Inc()
		return nil, absent
	}
	verdict := decide.Ignition(e.held, e.missing, e.attempt, token, b.whose(e, name, remote))
	b.agent.met.userData.WithLabelValues(string(verdict)).Inc()
	s, ok := b.agent.loops.of(name)
	if !ok || verdict == decide.IgnitionClosed {
		return nil, absent
	}
	if verdict != decide.IgnitionGive || !e.attempt.Given {
		if err := s.fold(decide.Event{UserData: verdict, Token: token, At: b.agent.cfg.Clock()}); err != nil {
			return nil, err
		}
		b.agent.cfg.Crash.At("agent.userdata.given")
	}
	if verdict != decide.IgnitionGive {
		return nil, absent
	}
	// A hold or a report may have come while it was written.
	if _, e, ok = b.agent.index.token(token); !ok || decide.Ignition(e.held, e.missing, e.attempt, token, b.whose(e, name, remote)) != decide.IgnitionGive {
		return nil, absent
	}
	content, err := b.agent.files.OpenUserData(name, e.attempt.OwnerUID, *e.attempt.Ignition)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "that of %s: %w", name, err)
	}
	return &netboot.File{
		ReadSeekCloser: text{bytes.NewReader(content)}, Size: int64(len(content)), ModTime: e.attempt.At,
		ContentType: resource.TypeIgnition, ETag: fmt.Sprintf("%q", e.attempt.Ignition.Sealed),
	}, nil
}

// whose says whose an address of the segment is. Where somebody else leases addresses
// too, or clients make their own, one that is not known is nobody's to judge.
func (b *boots) whose(e indexed, server string, remote netip.Addr) decide.Whose {
	if client, ok := b.leased.of(remote, b.agent.cfg.Clock()); ok {
		if name, known := b.agent.index.server(client); known && name == server {
			return decide.WhoseOwn
		}
		return decide.WhoseOther
	}
	seg, ok := b.agent.index.Segment(e.segment)
	if ok && remote.Unmap().Is4() && (seg.Service == nil || seg.Service.Mode == resource.ServiceFull) {
		return decide.WhoseNobody
	}
	return decide.WhoseUnknown
}

// Delivered implements netboot.UserData.
func (b *boots) Delivered(token string) {
	name, _, ok := b.agent.index.token(token)
	s, running := b.agent.loops.of(name)
	if !ok || !running {
		return
	}
	if err := s.fold(decide.Event{Kind: protocol.EvidenceFetched, File: protocol.FileIgnition, Token: token, At: b.agent.cfg.Clock()}); err != nil {
		b.agent.cfg.Logger.Error("a delivery of user data was not counted", "server", name, "err", err)
	}
	b.agent.cfg.Crash.At("agent.userdata.delivered")
}

var _ netboot.UserData = (*boots)(nil)
