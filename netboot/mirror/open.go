package mirror

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"time"

	"rackboot/protocol"
)

// found is where a file is: whole in the cache, or in a flight that was joined.
type found struct {
	entry  entry
	stale  bool
	flight *flight
}

// find looks for a file, and asks the other side as first decides. A claim is of who will
// pin the file. Errors: not_found (fs.ErrNotExist), unsupported (ErrFolder), denied,
// unavailable, timeout.
func (m *Mirror) find(ctx context.Context, s *site, u *url.URL, name string, claim bool) (found, error) {
	key, now := keyOf(u), time.Now()
	e, has := m.store.has(key)
	state := keptNone
	if has {
		if state = keptStale; e.fresh(now, m.cfg.Fresh) {
			state = keptFresh
		}
	}
	m.mu.Lock()
	gone, isFolder := m.isAbsent(key, now)
	do := first(state, gone, s.resting(now))
	var f *flight
	var err error
	if do == stepAsk {
		f, err = m.join(s, u, name, key, claim)
	}
	m.mu.Unlock()
	switch {
	case err != nil:
		return found{}, err
	case do == stepServe:
		return m.count(s, resultHit, found{entry: e})
	case do == stepStale:
		return m.count(s, resultStale, found{entry: e, stale: true})
	case do == stepAbsent && isFolder:
		return found{}, isNoFile(u)
	case do == stepAbsent:
		m.note(s, resultAbsent)
		return found{}, notThere(u)
	}
	wait := m.cfg.Wait
	switch {
	case claim:
		wait = m.cfg.Overall // who pins a file wants it whole, and says by ctx for how long
	case has:
		wait = m.cfg.Patience
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-f.known:
		return m.landed(f)
	case <-t.C:
		err = protocol.Errorf(protocol.CodeTimeout, "open", "%s did not answer within %s", show(u), wait).
			WithHint("check the way from the agent to %s", u.Host)
	case <-ctx.Done():
		err = protocol.Errorf(protocol.CodeTimeout, "open", "%s: %w", show(u), ctx.Err())
	}
	f.quit(claim)
	if has {
		return m.count(s, resultStale, found{entry: e, stale: true})
	}
	m.note(s, resultError)
	return found{}, err
}

// landed is what a flight found. It is left, unless it has the file.
func (m *Mirror) landed(f *flight) (found, error) {
	s := f.asked.site
	if f.outcome == outcomeTake {
		return m.count(s, resultMiss, found{flight: f})
	}
	defer f.leave()
	switch f.outcome {
	case outcomeRenew:
		return m.count(s, resultRenewed, found{entry: f.asked.old})
	case outcomeStale:
		return m.count(s, resultStale, found{entry: f.asked.old, stale: true})
	case outcomeAbsent:
		m.note(s, resultAbsent)
		return found{}, notThere(f.asked.url)
	case outcomeFolder:
		return found{}, isNoFile(f.asked.url)
	case outcomeTake, outcomeFail:
	}
	m.note(s, resultError)
	return found{}, f.err
}

func (m *Mirror) count(s *site, result string, f found) (found, error) {
	m.note(s, result)
	return f, nil
}

// note counts an open of a file of a site.
func (m *Mirror) note(s *site, result string) {
	m.metrics.opens.WithLabelValues(result).Inc()
	s.opens.add(result)
}

func isNoFile(u *url.URL) error {
	return protocol.Errorf(protocol.CodeUnsupported, "open", "%s: %w", show(u), ErrFolder).WithHint("name a file in it")
}

func notThere(u *url.URL) error {
	return protocol.Errorf(protocol.CodeNotFound, "open", "%s: %w", show(u), fs.ErrNotExist).
		WithHint("look whether the repository has the file; a name that was absent is not asked for again at once")
}

// quit leaves a flight before it is known what becomes of it.
func (f *flight) quit(claim bool) {
	if claim {
		f.claims.withdraw()
	}
	f.leave()
}

// open opens a file for reading. Errors as find.
func (m *Mirror) open(ctx context.Context, s *site, u *url.URL, name string) (fs.File, error) {
	for again := false; ; again = true {
		got, err := m.find(ctx, s, u, name, false)
		switch {
		case errors.Is(err, ErrFolder):
			return &folder{name: name}, nil
		case err != nil:
			return nil, err
		case got.flight != nil:
			return newPartial(got.flight), nil
		}
		f, done, err := m.store.open(got.entry.SHA256)
		if err == nil {
			return &whole{file: f, info: infoOf(name, got.entry), done: done}, nil
		}
		// It was removed since it was found; what is gone is asked for like anything.
		if again || protocol.CodeOf(err) != protocol.CodeNotFound {
			return nil, err
		}
	}
}
