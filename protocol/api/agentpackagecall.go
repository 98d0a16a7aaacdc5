package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/wire"
)

const (
	// pushPiece is how much of a program is sent at once, in bytes: what is kept in memory, and sent again after a break.
	pushPiece = 8 << 20
	// pushTries is how often a piece is tried without getting any further; the pause between two begins at firstPause and doubles.
	pushTries = 6
)

// AgentPackages are the packages of agents.
type AgentPackages struct{ hub *hub }

// List lists the packages, the newest upload first.
func (a AgentPackages) List(ctx context.Context) (out AgentPackageList, err error) {
	return out, a.hub.call(ctx, http.MethodGet, PathAgentPackages, nil, &out)
}

// Get reads what is known of a package.
func (a AgentPackages) Get(ctx context.Context, digest string) (out AgentPackage, err error) {
	return out, a.hub.call(ctx, http.MethodGet, PathAgentPackage(digest), nil, &out)
}

// Delete removes a package that nobody is to run.
func (a AgentPackages) Delete(ctx context.Context, digest string) (out AgentPackage, err error) {
	return out, a.hub.call(ctx, http.MethodDelete, PathAgentPackage(digest), nil, &out)
}

// Put says the signed manifest of a package, and reads which of its programs are there.
func (a AgentPackages) Put(ctx context.Context, signed []byte) (out AgentPackage, err error) {
	return out, a.hub.call(ctx, http.MethodPut, PathAgentPackage(wire.Digest(signed)), AgentPackageRequest{signed}, &out)
}

// Send sends the next piece of a program: size bytes of r, at most [MaxISOPiece], that begin at offset. After an error ask
// for the offset: some of it may be there.
func (a AgentPackages) Send(ctx context.Context, digest, architecture string, offset int64, r io.Reader, size int64) (out AgentProgram, err error) {
	return out, a.hub.piece(ctx, PathAgentProgram(digest, architecture, offset), r, size, &out)
}

// Push sends what is not there of a package, from its file. The same again goes on where it was. progress hears how far each
// program is; nil hears nothing. The codes are invalid (the file is none, or damaged), denied (the hub has keys, and none
// signed it), conflict, unavailable and timeout.
func (a AgentPackages) Push(ctx context.Context, r *agentpackage.Reader, progress func(AgentProgram)) (out AgentPackage, err error) {
	if out, err = a.Put(ctx, r.Signed()); err != nil {
		return out, err
	}
	if progress == nil {
		progress = func(AgentProgram) {}
	}
	for {
		b, content, err := r.Next()
		if errors.Is(err, io.EOF) {
			if out, err = a.Get(ctx, out.Digest); err == nil && !out.Whole {
				err = protocol.Errorf(protocol.CodeUnavailable, "push agent package", "the hub has not all of it: somebody else pushes it, or it was cut off at the end").
					WithHint("give the same command again: it goes on where it was")
			}
			return out, err
		}
		if err != nil {
			return out, err
		}
		p := &push{a: a, digest: out.Digest, content: content, said: progress, now: AgentProgram{Architecture: b.Architecture, SHA256: b.SHA256, Size: b.Size}}
		if err := p.among(out.Programs); err != nil {
			return out, err
		}
		if err := p.program(ctx); err != nil {
			return out, err
		}
	}
}

// push is one program on its way.
type push struct {
	a       AgentPackages
	digest  string
	content io.Reader
	said    func(AgentProgram)
	now     AgentProgram // as the hub has it
}

// among takes how far the program is from those of the package.
func (p *push) among(programs []AgentProgram) error {
	for _, there := range programs {
		if there.Architecture == p.now.Architecture {
			return p.heard(there)
		}
	}
	return nil
}

// heard takes how far the hub says that the program is, which may be nonsense.
func (p *push) heard(there AgentProgram) error {
	if there.Size != p.now.Size || there.Offset < 0 || there.Offset > there.Size {
		return protocol.Errorf(protocol.CodeInternal, "push agent package", "the hub says that it has %d of %d bytes of the program for %s, which has %d", there.Offset, there.Size, p.now.Architecture, p.now.Size).
			WithHint("see the hub's log, and whether it is the hub that you mean")
	}
	p.now = there
	return nil
}

// program sends what the hub does not have. The file is read to its end in any case, which compares it.
func (p *push) program(ctx context.Context) error {
	if _, err := io.CopyN(io.Discard, p.content, p.now.Offset); err != nil {
		return err
	}
	p.said(p.now)
	piece := make([]byte, min(pushPiece, p.now.Size-p.now.Offset))
	for at := p.now.Offset; at < p.now.Size; {
		n, err := io.ReadFull(p.content, piece[:min(int64(len(piece)), p.now.Size-at)])
		if err != nil {
			return err
		}
		if err := p.piece(ctx, at, piece[:n]); err != nil {
			return err
		}
		at += int64(n)
		p.said(p.now)
	}
	_, err := io.Copy(io.Discard, p.content) // its end compares it
	return err
}

// piece sends a piece, again and again until the hub has all of it.
func (p *push) piece(ctx context.Context, at int64, piece []byte) error {
	pause, end := firstPause, at+int64(len(piece))
	for try := 1; p.now.Offset < end; {
		if p.now.Offset < at {
			return protocol.Errorf(protocol.CodeConflict, "push agent package", "the hub has less of the program for %s than it had", p.now.Architecture).
				WithHint("give the same command again; if it is so again, see the hub's log")
		}
		rest := piece[p.now.Offset-at:]
		was := p.now.Offset
		next, err := p.a.Send(ctx, p.digest, p.now.Architecture, was, bytes.NewReader(rest), int64(len(rest)))
		if err == nil {
			err = p.heard(next)
		}
		if err == nil {
			continue
		}
		code := protocol.CodeOf(err)
		if again := code == protocol.CodeUnavailable || code == protocol.CodeTimeout || code == protocol.CodeConflict; !again || full(err) {
			return err
		}
		if err := p.look(ctx); err == nil && p.now.Offset > was {
			try = 1
			continue
		}
		if try++; try > pushTries || ctx.Err() != nil {
			return protocol.Errorf(code, "push agent package", "%w", err).WithHint("give the same command again: it goes on where it was")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause *= 2
	}
	return nil
}

// look asks how far the program is.
func (p *push) look(ctx context.Context) error {
	out, err := p.a.Get(ctx, p.digest)
	if err != nil {
		return err
	}
	return p.among(out.Programs)
}

// full reports whether the hub has no room, which does not pass by itself.
func full(err error) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Status == http.StatusInsufficientStorage
}
