package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/pending"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// UserData fetches sealed user data from the hub.
type UserData interface {
	// Fetch brings what has the digest. Whoever calls it checks that it has.
	Fetch(ctx context.Context, sealed string) ([]byte, error)
}

const (
	userDataTimeout  = time.Minute
	userDataPauseMin = time.Second
	userDataPauseMax = time.Minute
)

// userData brings the user data of servers to the agent before they boot (P7). It lies on
// disk as the hub has sealed it, so that who takes the disk alone has nothing; it is
// opened in memory for each delivery.
type userData struct {
	agent *Agent
	jobs  *pending.Set[string] // by the digest of what is sealed

	mu     sync.Mutex
	wanted map[string]message.ServerIntent // that was asked for; bounded by the rack's claims
}

func newUserData(a *Agent) *userData {
	u := &userData{agent: a, wanted: map[string]message.ServerIntent{}}
	u.jobs = pending.New(pending.Config[string]{
		Do: u.bring, Tried: func(string) { a.lookAtAll() }, Timeout: userDataTimeout, MinPause: userDataPauseMin, MaxPause: userDataPauseMax, Clock: a.cfg.Clock,
	})
	return u
}

// want asks for the user data of a server, if it has any; it does not wait.
func (u *userData) want(in message.ServerIntent) {
	if in.Boot.Ignition == nil || in.Boot.Ignition.Sealed == "" {
		return
	}
	u.mu.Lock()
	u.wanted[in.Boot.Ignition.Sealed] = in
	u.mu.Unlock()
	u.jobs.Add(in.Boot.Ignition.Sealed)
}

// with is what a decision sees of all that a boot needs.
func (u *userData) with(image decide.Artefacts, ref *message.IgnitionIntent) decide.Artefacts {
	if ref == nil || !image.Local {
		return image
	}
	if ref.Sealed == "" {
		return decide.Artefacts{} // the hub says why
	}
	done, err := u.jobs.State(ref.Sealed)
	if err != nil {
		return decide.Artefacts{Failed: &resource.ConditionState{Code: resource.CondArtefactsFailed, Message: "user data: " + err.Error()}}
	}
	image.Local = done
	return image
}

// bring fetches one, and proves that it can be opened.
func (u *userData) bring(ctx context.Context, digest string) error {
	u.mu.Lock()
	in, ok := u.wanted[digest]
	u.mu.Unlock()
	if !ok {
		return nil // no document names it any more
	}
	if err := u.fetch(ctx, in); err != nil {
		u.agent.log.Warn("user data could not be fetched", "server", in.Server, "err", err)
		return err
	}
	u.agent.log.Info("user data is local", "server", in.Server, "secret", in.Boot.Ignition.Secret, "version", in.Boot.Ignition.Version)
	return nil
}

func (u *userData) fetch(ctx context.Context, in message.ServerIntent) error {
	const op = "fetch user data"
	ref, blobs := in.Boot.Ignition, u.agent.cfg.Blobs
	if blobs.Has(ref.Sealed) && blobs.Verify(ctx, ref.Sealed) == nil {
		_, err := u.open(in.Server, in.Owner.UID, *ref)
		return err
	}
	switch {
	case u.agent.cfg.UserData == nil:
		return protocol.Errorf(protocol.CodeUnsupported, op, "this agent does not know the hub's API").
			WithHint("give link.api in the agent's file")
	case ref.Size < message.SealedOverhead || ref.Size > resource.MaxIgnition+message.SealedOverhead:
		return protocol.Errorf(protocol.CodeInvalid, op, "the document says %d bytes", ref.Size)
	}
	body, err := u.agent.cfg.UserData.Fetch(ctx, ref.Sealed)
	if err != nil {
		return err
	}
	if err := u.agent.store.NoteUserData(ref.Sealed); err != nil {
		return err
	}
	u.agent.cfg.Crash.At("agent.userdata.noted")
	// What does not have the size and the digest of the signed document is not kept.
	if err := blobs.Write(ctx, ref.Sealed, ref.Size, bytes.NewReader(body)); err != nil {
		return err
	}
	u.agent.cfg.Crash.At("agent.userdata.local")
	_, err = u.open(in.Server, in.Owner.UID, *ref)
	return err
}

// open opens what is on disk.
func (u *userData) open(server, claim string, ref message.IgnitionIntent) ([]byte, error) {
	if u.agent.cfg.Secrets == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "open user data", "this agent has no key for secrets")
	}
	f, size, err := u.agent.cfg.Blobs.Open(ref.Sealed)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sealed, err := io.ReadAll(io.LimitReader(f, resource.MaxIgnition+message.SealedOverhead+1))
	if err != nil || int64(len(sealed)) != size {
		return nil, protocol.Errorf(protocol.CodeInternal, "open user data", "it cannot be read from disk")
	}
	return u.agent.cfg.Secrets.OpenIgnition(server, claim, ref.Ref(), sealed)
}

// keep forgets and destroys what no document and no open boot names, and says what is to
// be pinned. An agent whose disk fails tries again with the next document.
func (u *userData) keep(o store.Overview) (pins []string) {
	needed := map[string]bool{}
	for _, in := range o.Intents {
		for _, b := range in.Boot.All() {
			if b.Ignition != nil && b.Ignition.Sealed != "" {
				needed[b.Ignition.Sealed] = true
			}
		}
	}
	for _, r := range o.Records {
		if a := r.Attempt; a.Open() && a.Ignition != nil && a.Ignition.Sealed != "" {
			needed[a.Ignition.Sealed] = true
		}
	}
	u.jobs.Keep(func(digest string) bool { return needed[digest] })
	u.mu.Lock()
	for digest := range u.wanted {
		if !needed[digest] {
			delete(u.wanted, digest)
		}
	}
	u.mu.Unlock()
	for digest := range needed {
		pins = append(pins, digest)
	}
	return pins
}

// destroy removes what is user data and is not pinned any more.
func (u *userData) destroy(pinned map[string]bool) {
	digests, err := u.agent.store.UserData()
	for _, d := range digests {
		if pinned[d] {
			continue
		}
		if err = u.agent.cfg.Blobs.Remove(d); err == nil {
			u.agent.cfg.Crash.At("agent.userdata.destroyed")
			err = u.agent.store.ForgetUserData(d)
		}
		if err == nil {
			u.agent.log.Info("user data was destroyed", "sealed", d)
		}
	}
	if err != nil {
		u.agent.log.Error("user data could not be destroyed", "err", err)
	}
}

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
	s, ok := b.agent.server(name)
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
	content, err := b.agent.userData.open(name, e.attempt.OwnerUID, *e.attempt.Ignition)
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
	s, running := b.agent.server(name)
	if !ok || !running {
		return
	}
	if err := s.fold(decide.Event{Kind: protocol.EvidenceFetched, File: protocol.FileIgnition, Token: token, At: b.agent.cfg.Clock()}); err != nil {
		b.agent.log.Error("a delivery of user data was not counted", "server", name, "err", err)
	}
	b.agent.cfg.Crash.At("agent.userdata.delivered")
}

var _ netboot.UserData = (*boots)(nil)
