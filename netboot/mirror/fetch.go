package mirror

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
)

// abreast is how many files of one Fetch are fetched at once.
const abreast = 4

// Want is a file that is to be pinned.
type Want struct {
	Name string // below the base
	// SHA256 is what its content must hash to, in hex; empty if it is not known.
	SHA256 string
}

// Fetch brings files whole to the disk, hashes each, and pins them under a name in place
// of what was pinned under it: all of them or none. The pin is on disk when Fetch returns,
// and stays until Unpin. Where the other side cannot be asked, files that are cached do,
// said to be stale. A file with another hash than wanted is refused.
//
// Errors: invalid (names, or another content), denied, not_found, unavailable, timeout,
// conflict (a file was changed again and again while it was fetched).
func (m *Mirror) Fetch(ctx context.Context, pinName, base string, wants []Want) (*Set, error) {
	const op = "fetch for a boot"
	s, u, err := m.site(op, base)
	if err != nil {
		return nil, err
	}
	if err := checkWants(op, pinName, wants); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	files, errs, holds := make([]File, len(wants)), make([]error, len(wants)), make([]func(), len(wants))
	places := make(chan struct{}, abreast)
	var wg sync.WaitGroup
	for i, w := range wants {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if files[i], holds[i], errs[i] = m.bring(ctx, s, u, w); errs[i] != nil {
				cancel() // one that fails fails all
			}
		})
	}
	wg.Wait()
	defer func() {
		for _, release := range holds {
			if release != nil {
				release()
			}
		}
	}()
	if err := worst(errs); err != nil {
		return nil, protocol.Errorf(protocol.CodeOf(err), op, "%w", err).WithHint("%s", hintOr(err, "look at the repository and at the agent's way to it"))
	}
	p := pin{Version: sidecarVersion, Name: pinName, Base: show(u), Files: files}
	slices.SortFunc(p.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if err := m.store.pin(op, p); err != nil {
		return nil, err
	}
	return newSet(m.store, p), nil
}

func checkWants(op, pinName string, wants []Want) error {
	if pinName == "" || len(pinName) > maxName || len(wants) == 0 || len(wants) > maxWants {
		return protocol.Errorf(protocol.CodeInvalid, op, "a pin has a name and 1 to %d files", maxWants)
	}
	seen := map[string]bool{}
	for _, w := range wants {
		if err := checkName(w.Name); err != nil {
			return err
		}
		if w.Name == "." || seen[w.Name] || w.SHA256 != "" && !isHash(w.SHA256) {
			return protocol.Errorf(protocol.CodeInvalid, op, "%.100q is named twice, is no file, or has a SHA-256 that is not 64 lower-case hex digits", w.Name)
		}
		seen[w.Name] = true
	}
	if nests(seen) {
		return protocol.Errorf(protocol.CodeInvalid, op, "one of the files is named as a folder of another")
	}
	return nil
}

// worst is the error that says most: not that of a file that was given up for another.
func worst(errs []error) error {
	var out error
	for _, err := range errs {
		if err != nil && (out == nil || errors.Is(out, context.Canceled)) {
			out = err
		}
	}
	return out
}

// bring brings one file, and holds it. One that changed meanwhile, or was damaged on
// disk, is tried once more.
func (m *Mirror) bring(ctx context.Context, s *site, base *url.URL, w Want) (File, func(), error) {
	u := under(base, w.Name)
	for again := false; ; again = true {
		e, stale, release, err := m.have(ctx, s, u, w.Name)
		if err == nil {
			if err = m.store.verify(ctx, e.SHA256); err == nil && w.SHA256 != "" && w.SHA256 != e.SHA256 {
				err = m.unwanted(u, e, w)
			}
			if err == nil {
				return File{Name: w.Name, Size: e.Size, SHA256: e.SHA256, ETag: e.tag(), ModTime: e.Modified, Stale: stale}, release, nil
			}
			release()
		}
		code := protocol.CodeOf(err)
		if again || ctx.Err() != nil || code != protocol.CodeConflict && code != protocol.CodeInvalid {
			return File{}, nil, err
		}
	}
}

// unwanted is the error of a content that hashes to something else. What was kept of it
// is not believed any more: the next question has no condition.
func (m *Mirror) unwanted(u *url.URL, e entry, w Want) error {
	m.store.drop(keyOf(u))
	return protocol.Errorf(protocol.CodeInvalid, "fetch for a boot", "%s hashes to %s, not to %s", show(u), e.SHA256, w.SHA256).
		WithHint("correct the SHA-256 in the BootEnv, or find out who changed the file in the repository")
}

// have is what is known of a file that is wholly here, and a hold on it.
func (m *Mirror) have(ctx context.Context, s *site, u *url.URL, name string) (e entry, stale bool, release func(), err error) {
	got, err := m.find(ctx, s, u, name, true)
	if err != nil {
		return entry{}, false, nil, err
	}
	f := got.flight
	if f == nil {
		release, ok := m.store.hold(got.entry.SHA256)
		if !ok {
			return entry{}, false, nil, protocol.Errorf(protocol.CodeConflict, "fetch for a boot", "%s was removed from the cache meanwhile", show(u))
		}
		return got.entry, got.stale, release, nil
	}
	defer f.leave()
	if err := f.whole(ctx); err != nil {
		f.claims.withdraw()
		if old, ok := m.store.has(keyOf(u)); ok && protocol.CodeOf(err) != protocol.CodeConflict && ctx.Err() == nil {
			if release, ok := m.store.hold(old.SHA256); ok {
				return old, true, release, nil
			}
		}
		return entry{}, false, nil, err
	}
	if release = f.claims.take(); release == nil {
		return entry{}, false, nil, protocol.Errorf(protocol.CodeConflict, "fetch for a boot", "%s was removed from the cache meanwhile", show(u))
	}
	return f.kept, false, release, nil
}

// whole waits until the file is here. A fetch that goes on may take its whole time.
func (f *flight) whole(ctx context.Context) error {
	for {
		now := f.arrival.now()
		if now.ended {
			return now.failure
		}
		select {
		case <-now.moved:
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeTimeout, "fetch", "%s: %w", show(f.asked.url), ctx.Err())
		}
	}
}
