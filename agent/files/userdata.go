package files

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/internal/pending"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	userDataTimeout  = time.Minute
	userDataPauseMin = time.Second
	userDataPauseMax = time.Minute
)

// userData brings the user data of servers to the agent before they boot (P7). It lies on
// disk as the hub has sealed it, so that who takes the disk alone has nothing; it is
// opened in memory for each delivery.
type userData struct {
	cfg  *Config
	jobs *pending.Set[string] // by the digest of what is sealed

	mu     sync.Mutex
	wanted map[string]message.ServerIntent // that was asked for; bounded by the rack's claims
}

func newUserData(cfg *Config) *userData {
	u := &userData{cfg: cfg, wanted: map[string]message.ServerIntent{}}
	u.jobs = pending.New(pending.Config[string]{
		Do: u.bring, Tried: func(string) { cfg.Servers.LookAtAll() }, Timeout: userDataTimeout, MinPause: userDataPauseMin, MaxPause: userDataPauseMax, Clock: cfg.Clock,
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
		u.cfg.Logger.Warn("user data could not be fetched", "server", in.Server, "err", err)
		return err
	}
	u.cfg.Logger.Info("user data is local", "server", in.Server, "secret", in.Boot.Ignition.Secret, "version", in.Boot.Ignition.Version)
	return nil
}

func (u *userData) fetch(ctx context.Context, in message.ServerIntent) error {
	const op = "fetch user data"
	ref, blobs := in.Boot.Ignition, u.cfg.Blobs
	if blobs.Has(ref.Sealed) && blobs.Verify(ctx, ref.Sealed) == nil {
		return u.opens(in)
	}
	switch {
	case u.cfg.UserData == nil:
		return protocol.Errorf(protocol.CodeUnsupported, op, "this agent does not know the hub's API").
			WithHint("give link.api in the agent's file")
	case ref.Size < message.SealedOverhead || ref.Size > resource.MaxIgnition+message.SealedOverhead:
		return protocol.Errorf(protocol.CodeInvalid, op, "the document says %d bytes", ref.Size)
	}
	body, err := u.cfg.UserData.Fetch(ctx, ref.Sealed)
	if err != nil {
		return err
	}
	if err := u.cfg.Store.UserData.Note(ref.Sealed); err != nil {
		return err
	}
	u.cfg.Crash.At("agent.userdata.noted")
	// What does not have the size and the digest of the signed document is not kept.
	if err := blobs.Write(ctx, ref.Sealed, ref.Size, bytes.NewReader(body)); err != nil {
		return err
	}
	u.cfg.Crash.At("agent.userdata.local")
	return u.opens(in)
}

// opens proves that what is on disk can be opened.
func (u *userData) opens(in message.ServerIntent) error {
	content, err := u.open(in.Server, in.Owner.UID, *in.Boot.Ignition)
	clear(content)
	return err
}

// open opens what is on disk.
func (u *userData) open(server, claim string, ref message.IgnitionIntent) ([]byte, error) {
	if u.cfg.Secrets == nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "open user data", "this agent has no key for secrets")
	}
	f, size, err := u.cfg.Blobs.Open(ref.Sealed)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sealed, err := io.ReadAll(io.LimitReader(f, resource.MaxIgnition+message.SealedOverhead+1))
	if err != nil || int64(len(sealed)) != size {
		return nil, protocol.Errorf(protocol.CodeInternal, "open user data", "it cannot be read from disk")
	}
	return u.cfg.Secrets.OpenIgnition(server, claim, ref.Ref(), sealed)
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
		if a := r.Attempt; a.Open() && a.Order.Ignition != nil && a.Order.Ignition.Sealed != "" {
			needed[a.Order.Ignition.Sealed] = true
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
	digests, err := u.cfg.Store.UserData.Digests()
	for _, d := range digests {
		if pinned[d] {
			continue
		}
		if err = u.cfg.Blobs.Remove(d); err == nil {
			u.cfg.Crash.At("agent.userdata.destroyed")
			err = u.cfg.Store.UserData.Forget(d)
		}
		if err == nil {
			u.cfg.Logger.Info("user data was destroyed", "sealed", d)
		}
	}
	if err != nil {
		u.cfg.Logger.Error("user data could not be destroyed", "err", err)
	}
}
