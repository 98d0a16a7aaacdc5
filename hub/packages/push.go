package packages

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/api"
	"rackboot/protocol/wire"
)

// Put takes a signed manifest into the book, and says which of its programs are here. Repeating it is safe. The codes are
// invalid (its form, another digest), denied (no key of the hub's file signed it), conflict, unavailable (too many packages) and timeout.
func (r *Room) Put(ctx context.Context, digest string, signed []byte, by string) (api.AgentPackage, error) {
	const op = "push agent package"
	var none api.AgentPackage
	m, err := agentpackage.Read(signed)
	if err != nil {
		return none, protocol.Errorf(protocol.CodeInvalid, op, "it is no signed manifest: %w", err).WithHint("make the package with `rackctl agent-package make`")
	}
	if got := wire.Digest(signed); got != digest {
		return none, protocol.Errorf(protocol.CodeInvalid, op, "the manifest has %s, not %.100q", got, digest).WithHint("push the package again; one of the two was changed on the way")
	}
	key, err := r.verify(op, signed)
	if err != nil {
		return none, err
	}
	p, err := r.cfg.Store.AgentPackages.Get(digest)
	switch {
	case err == nil && (p.Key == key || key == ""):
		return r.resumed(ctx, p, m)
	case err == nil: // the hub has keys by now
		p.Key = key
	case protocol.CodeOf(err) != protocol.CodeNotFound:
		return none, err
	case len(r.cfg.Store.AgentPackages.List()) >= maxPackages:
		return none, protocol.Errorf(protocol.CodeUnavailable, op, "there are %d packages, and no more are kept", maxPackages).
			WithHint("delete old ones: rackctl agent-package get lists them, rackctl agent-package delete DIGEST removes one")
	default:
		p = store.AgentPackage{Digest: digest, Manifest: signed, Key: key, UploadedAt: r.cfg.Clock().UTC(), UploadedBy: by}
	}
	fresh := p.Revision == 0
	err = r.cfg.Store.AgentPackages.Put(ctx, &p)
	if protocol.CodeOf(err) == protocol.CodeConflict { // somebody else pushes the same
		return r.resumed(ctx, p, m)
	}
	if err != nil {
		return none, err
	}
	r.cfg.Crash.At("hub.package.booked")
	r.cfg.Logger.Info("package of agents pushed", "digest", digest, "version", m.Version, "key", key, "by", by)
	if fresh {
		r.cfg.Event(ctx, fmt.Sprintf("the package of agents %s, %s, was pushed by %s, signed by %s", m.Version, digest, by, cmp.Or(key, "a key that this hub does not verify")))
	}
	return r.resumed(ctx, p, m)
}

// resumed is a package with how much of each program is there for sure. What somebody else sends just now is told as it seems.
func (r *Room) resumed(ctx context.Context, p store.AgentPackage, m agentpackage.Manifest) (api.AgentPackage, error) {
	at := map[string]int64{}
	for _, b := range m.Binaries {
		n, err := r.cfg.Shelf.Resume(ctx, b.SHA256, b.Size)
		switch protocol.CodeOf(err) {
		case "":
			at[b.Architecture] = n
		case protocol.CodeUnavailable, protocol.CodeConflict: // there may be no room: the first piece is refused then
		default:
			return api.AgentPackage{}, err
		}
	}
	out, err := r.item(p)
	for i, b := range out.Programs {
		if n, known := at[b.Architecture]; known {
			out.Programs[i].Offset = n
		}
	}
	return out, err
}

// verify names the key of the hub's file that signed a manifest; empty where the hub has none.
func (r *Room) verify(op string, signed []byte) (string, error) {
	if len(r.cfg.Keys) == 0 {
		return "", nil
	}
	key := agentpackage.SignedBy(signed, r.cfg.Keys)
	if key == nil {
		return "", protocol.Errorf(protocol.CodeDenied, op, "no key in upgrade.keys of the hub's file signed this package").
			WithHint("sign it with the publisher's key whose public half the hub's file names, or have that of this publisher put there")
	}
	return hex.EncodeToString(wire.KeyID(key)), nil
}

// Append takes the next piece of a program, which begins at offset. What came of it before an error stays; the last piece
// has the program compared with the manifest. The codes are invalid (it is not the program of the manifest: nothing of it is
// kept), not_found, conflict (the offset is another), unavailable (no room, somebody else sends it) and timeout.
func (r *Room) Append(ctx context.Context, digest, architecture string, offset int64, in io.Reader) (api.AgentProgram, error) {
	const op = "push agent package"
	var none api.AgentProgram
	p, err := r.cfg.Store.AgentPackages.Get(digest)
	if err != nil {
		return none, err
	}
	m, err := agentpackage.Read(p.Manifest)
	if err != nil {
		return none, err
	}
	b, ok := m.For(architecture)
	if !ok {
		return none, protocol.Errorf(protocol.CodeNotFound, op, "the package has no program for %.20q", architecture).WithHint("rackctl agent-package get -o wide lists its programs")
	}
	at, err := r.cfg.Shelf.Take(ctx, b.SHA256, b.Size, offset, in)
	if protocol.CodeOf(err) == protocol.CodeInvalid {
		r.cfg.Logger.Warn("a program was refused", "package", digest, "architecture", architecture, "err", err)
		return none, protocol.Errorf(protocol.CodeInvalid, op, "what came is not the program for %s of the manifest: %w", architecture, err).
			WithHint("give the same command again; if it is refused again, the package file is damaged")
	}
	if err != nil {
		return none, err
	}
	out := r.program(b)
	if out.Offset = at; !out.Whole {
		return out, nil
	}
	r.cfg.Crash.At("hub.package.program")
	if item, err := r.item(p); err == nil && item.Whole {
		r.cfg.Logger.Info("package of agents is whole", "digest", digest, "version", m.Version)
		r.cfg.Event(ctx, fmt.Sprintf("the package of agents %s, %s, is here with all of its programs", m.Version, digest))
	}
	return out, nil
}
