package mirror

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// asked is what a flight asks for.
type asked struct {
	site *site
	url  *url.URL
	name string
	key  string
	old  entry // what was kept when it began
	has  bool
}

// A flight is the one fetch of a file that all who want it share.
type flight struct {
	m     *Mirror
	asked asked

	ctx    context.Context
	cancel context.CancelFunc
	known  chan struct{} // closed when outcome is set
	// Set before known is closed.
	outcome outcome
	err     error // of fail and of stale
	entry   entry // of take: what the header says; SHA256 is empty
	noStore bool
	strong  string      // identifies the bytes, or empty
	draft   *blob.Draft // of take

	arrival *arrival
	noRange atomic.Bool // the other side gives no ranges
	kept    entry       // what is known of it, once it ended well
	claims  claims      // they are made with mu held

	keeping  sync.Mutex // held while it goes into the cache, before all others
	disowned bool       // needs keeping: it was flushed meanwhile, and is for those who wait

	mu    sync.Mutex
	users int // readers and the fetch itself; the last closes draft
}

// join returns the flight of a file, begun if there is none; the caller leaves it. A
// claim keeps the content until it is pinned. The lock of the mirror is held.
func (m *Mirror) join(s *site, u *url.URL, name, key string, claim bool) (*flight, error) {
	if m.closed {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "open", "the mirror's cache is closed")
	}
	f := m.flights[key]
	if f == nil {
		f = &flight{m: m, asked: asked{site: s, url: u, name: name, key: key}, known: make(chan struct{}), arrival: newArrival(), users: 1}
		f.asked.old, f.asked.has = m.store.has(key)
		f.ctx, f.cancel = context.WithTimeout(m.ctx, m.cfg.Overall)
		m.flights[key] = f
		m.wg.Go(f.run)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users++
	if claim {
		f.claims.add()
	}
	return f, nil
}

// leave is called once by each that joined.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	select {
	case <-f.known:
	default:
		return
	}
	switch {
	case f.draft == nil:
	case f.users == 0:
		_ = f.draft.Close() // it was only read since it was synced
	case f.users == 1 && !f.arrival.now().ended && f.noStore && !f.claims.any():
		f.cancel() // nobody reads what nobody may keep
	}
}

// run fetches, and tells what became of it.
func (f *flight) run() {
	defer f.leave()
	defer f.cancel()
	if err := f.place(); err != nil {
		f.settle(reply{answerLocal, err}, nil)
		return
	}
	defer f.m.slots.give()
	resp, err := f.m.ask(f.ctx, f.asked.site, http.MethodGet, f.asked.url, f.asked.old.conditions())
	if err == nil {
		defer resp.Body.Close()
	}
	if f.m.ctx.Err() != nil {
		err = protocol.Errorf(protocol.CodeUnavailable, "fetch", "the mirror's cache is closed")
		f.settle(reply{answerLocal, err}, nil)
		return
	}
	v := classify(resp, err, f.asked.name)
	f.m.hear(f.asked.site, v)
	if v.answer == answerWhole {
		v = f.begin(resp, v)
	}
	f.settle(v, resp)
	if f.outcome == outcomeTake {
		f.receive(resp.Body)
	}
}

// place waits for a place among the requests.
func (f *flight) place() error {
	ctx, cancel := context.WithTimeout(f.ctx, f.m.cfg.Wait)
	defer cancel()
	return f.m.slots.take(ctx)
}

// settle says what becomes of the answer, to all that wait for it. A body whose length
// is unknown is received first: a file has its size from the beginning.
func (f *flight) settle(v reply, resp *http.Response) {
	now := time.Now()
	f.outcome, f.err = judge(v.answer, f.asked.has), v.err
	switch f.outcome {
	case outcomeRenew:
		f.asked.old = f.asked.old.renewed(resp.Header, now)
		if err := f.m.store.renew(f.asked.key, f.asked.old); err != nil {
			f.m.cfg.Logger.Warn("mirror's cache not written", "name", f.asked.name, "err", err)
		}
	case outcomeAbsent:
		f.m.store.drop(f.asked.key)
		f.m.missed(f.asked.key, false)
	case outcomeFolder:
		f.m.store.drop(f.asked.key)
		f.m.missed(f.asked.key, true)
	case outcomeFail:
		if f.err == nil {
			f.err = protocol.Errorf(protocol.CodeUnavailable, "fetch", "%s answers 304 to a question without a condition", show(f.asked.url))
		}
	case outcomeTake:
		if f.entry.Size < 0 {
			return // receive tells
		}
		close(f.known)
		return
	case outcomeStale:
	}
	f.m.end(f)
	close(f.known)
}

// end takes a flight out of the book. What is begun afterwards asks again.
func (m *Mirror) end(f *flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flights[f.asked.key] == f {
		delete(m.flights, f.asked.key)
	}
}

// wait waits until that many bytes have arrived. errFar says that they are far from what
// has, and could be had by a request of their own.
func (f *flight) wait(ctx context.Context, until int64) error {
	timer := time.NewTimer(f.m.cfg.Wait)
	defer timer.Stop()
	for {
		now := f.arrival.now()
		far := until-now.bytes > f.m.cfg.Ahead && f.strong != "" && !f.noRange.Load()
		switch {
		case now.bytes >= until:
			return nil
		case now.failure != nil:
			return now.failure
		case now.ended:
			return protocol.Errorf(protocol.CodeInternal, "read", "a position after the end of %s", f.asked.name)
		case far:
			return errFar
		}
		select {
		case <-now.moved:
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeUnavailable, "read", "%s was closed", f.asked.name)
		case <-timer.C:
			return protocol.Errorf(protocol.CodeTimeout, "read", "%s did not come as far as byte %d within %s", show(f.asked.url), until, f.m.cfg.Wait).
				WithHint("the way to %s is slow; fetch the file beforehand, or use a nearer repository", f.asked.url.Host)
		}
	}
}
