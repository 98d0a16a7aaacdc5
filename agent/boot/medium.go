package boot

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

const (
	// mediumLoads is more than firmware and BMC read of an image to find out what it is, in
	// bytes, and less than any kernel.
	mediumLoads = 4 << 20
)

// openMedium opens an image of a medium for the BMC.
func (b *segment) openMedium(remote netip.Addr, server string, e indexed, name string) (*netboot.File, error) {
	const op = "open medium"
	if !decide.MayReadMedium(e.held, e.missing, e.attempt, e.medium, e.medium.Token) {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "the medium of %s is not served now", server)
	}
	if !b.room.cfg.Servers.Has(server) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", server)
	}
	switch name {
	case protocol.FileISO:
		if a := e.attempt; a.Open() && !a.Stage.PowerOn.Sent.IsZero() && !a.Marks.Served && !b.isHost(remote) {
			// From here on nobody must guess whether the server has it.
			if err := b.room.cfg.Servers.Fold(server, decide.Event{Begun: true, Token: a.Token, At: b.room.cfg.Clock()}); err != nil {
				return nil, err
			}
		}
		f, size, err := b.room.cfg.Blobs.Open(e.medium.Blob)
		if err != nil {
			return nil, err
		}
		token := e.medium.Token
		return &netboot.File{
			ReadSeekCloser: f, Size: size, ModTime: e.attempt.At, ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", e.medium.Blob),
			Sent: func(bytes int64, whole bool) { b.mediumSent(server, remote, token, size, bytes, whole) },
		}, nil
	case protocol.FileConfigISO:
		content, err := b.configISO(server, e)
		if err != nil {
			return nil, err
		}
		return &netboot.File{
			ReadSeekCloser: &once{bytes.NewReader(content), content}, Size: int64(len(content)), ModTime: e.attempt.At,
			ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("%q", fmt.Sprintf("sha256:%x", sha256.Sum256(content))),
			Sent: func(int64, bool) {},
		}, nil
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, op, "the medium has no %s", name)
}

// isHost says whether an address is leased to a server. What a host reads is no evidence
// of what its BMC did.
func (b *segment) isHost(remote netip.Addr) bool {
	client, ok := b.leased.of(remote, b.room.cfg.Clock())
	if !ok {
		return false
	}
	_, host := b.room.index.server(client)
	return host
}

// mediumSent takes that a part of a boot image was sent to whoever has its token.
func (b *segment) mediumSent(server string, remote netip.Addr, token string, size, sent int64, whole bool) {
	_, e, ok := b.room.index.token(token)
	if !ok || e.medium == nil || e.medium.Token != token || !e.attempt.Open() || e.attempt.ID != e.medium.Attempt || b.isHost(remote) {
		return
	}
	now := b.room.cfg.Clock()
	switch a := e.attempt; {
	case a.Stage.PowerOn.Sent.IsZero():
		if whole && !a.Marks.Cached {
			b.room.cfg.Servers.Saw(server, decide.Event{Medium: decide.MediumWhole, Token: token, At: now})
		}
	case a.Stage.State == resource.AttemptFetched:
	case b.room.loads.of(server).add(token, sent, min(mediumLoads, max(size/2, 1))):
		b.room.cfg.Servers.Saw(server, decide.Event{Kind: protocol.EvidenceFetched, File: protocol.FileISO, Token: a.Token, At: now})
	}
}
