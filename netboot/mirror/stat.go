package mirror

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol"
)

// stat describes a file by a HEAD request, or by what is kept of it. Errors as find.
func (m *Mirror) stat(ctx context.Context, s *site, u *url.URL, name string) (fs.FileInfo, error) {
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
	under := m.flights[key]
	m.mu.Unlock()
	switch {
	case do == stepServe, do == stepStale:
		return infoOf(name, e), nil
	case do == stepAbsent && isFolder:
		return &folder{name: name}, nil
	case do == stepAbsent:
		return nil, notThere(u)
	case under != nil:
		return m.statOpen(ctx, s, u, name)
	}
	wait := m.cfg.Wait
	if has {
		wait = m.cfg.Patience
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	resp, v := m.head(ctx, s, u, name)
	if resp != nil && resp.StatusCode == http.StatusOK && resp.ContentLength < 0 || resp != nil && unheaded(resp.StatusCode) {
		return m.statOpen(ctx, s, u, name)
	}
	m.hear(s, v)
	switch judge(v.answer, has) {
	case outcomeTake:
		got := entry{URL: show(u), Size: resp.ContentLength}.heard(resp.Header, now)
		if has && e.Size == got.Size && e.ETag == got.ETag && e.LastModified == got.LastModified && (e.ETag != "" || e.LastModified != "") {
			e = e.renewed(resp.Header, now) // RFC 9111 section 4.3.5
			if err := m.store.renew(key, e); err != nil {
				m.cfg.Logger.Warn("mirror's cache not written", "name", name, "err", err)
			}
			return infoOf(name, e), nil
		}
		return infoOf(name, got), nil
	case outcomeAbsent:
		m.store.drop(key)
		m.missed(key, false)
		return nil, notThere(u)
	case outcomeFolder:
		m.store.drop(key)
		m.missed(key, true)
		return &folder{name: name}, nil
	case outcomeStale:
		return infoOf(name, e), nil
	case outcomeRenew, outcomeFail:
	}
	if v.err == nil {
		v.err = protocol.Errorf(protocol.CodeUnavailable, "stat", "%s answers 304 to a question without a condition", show(u))
	}
	return nil, v.err
}

// unheaded says whether a status is that of a server which does not know HEAD.
func unheaded(status int) bool {
	return status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// head asks for a file's header; there is none where it was not asked.
func (m *Mirror) head(ctx context.Context, s *site, u *url.URL, name string) (*http.Response, reply) {
	if err := m.slots.take(ctx); err != nil {
		return nil, reply{answerLocal, err}
	}
	defer m.slots.give()
	resp, err := m.ask(ctx, s, http.MethodHead, u, nil)
	if err == nil {
		err = resp.Body.Close()
	}
	v := classify(resp, err, name)
	if v.answer == answerTrouble && m.ctx.Err() != nil {
		v.answer = answerLocal
	}
	return resp, v
}

// statOpen describes a file by opening it.
func (m *Mirror) statOpen(ctx context.Context, s *site, u *url.URL, name string) (fs.FileInfo, error) {
	f, err := m.open(ctx, s, u, name)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	return fi, errors.Join(err, f.Close())
}
