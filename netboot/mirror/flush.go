package mirror

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
)

// Flushed is what a flush has dropped.
type Flushed struct {
	Files int
	Bytes int64
	// Kept are those of Files whose content stays on disk: an environment has it pinned,
	// somebody reads it, or another URL has the same.
	Kept      int
	KeptBytes int64
}

// Flush forgets what is cached: all, what is at a URL and below it, or what is at a path from
// "/" and below it, of any host. It is asked for anew when somebody wants it. Sets that are
// pinned stay as they are, and who reads a file reads it to its end. What is being fetched goes
// to those who wait for it, and not into the cache. Repeating it is safe; it is not undone by a
// crash.
//
// Each tree of which files would go is asked first whether it answers; where one does not,
// nothing is dropped, unless force is set.
//
// Errors: invalid, not_found (the URL is of no tree, and nothing of it is here), conflict (a
// tree does not answer), timeout (ctx ended: a part was dropped), internal (it may come back
// after a crash).
func (m *Mirror) Flush(ctx context.Context, what string, force bool) (Flushed, error) {
	const op = "flush the mirror's cache"
	of, err := parseScope(op, what)
	if err != nil {
		return Flushed{}, err
	}
	keys, files := m.meant(of)
	if !slices.ContainsFunc(m.sites, func(s *site) bool { return of.meets(show(s.url)) }) && len(keys) == 0 {
		return Flushed{}, protocol.Errorf(protocol.CodeNotFound, op, "%s is of no repository that this rack may ask", of.url).
			WithHint("the rack's mirror status lists them")
	}
	if err := m.answered(ctx, op, files, force); err != nil {
		return Flushed{}, err
	}
	for _, f := range m.disown(of) {
		f.disown()
	}
	keys, _ = m.meant(of) // with what came meanwhile
	out, err := m.store.flush(ctx, op, keys)
	m.cfg.Logger.Info("mirror's cache flushed", "what", what, "files", out.Files, "bytes", out.Bytes, "err", err)
	return out, err
}

// meant are the keys of what is cached of a scope, and how many there are of each site.
func (m *Mirror) meant(of scope) (keys []string, files map[*site]int) {
	files = map[*site]int{}
	m.store.each(func(key string, e *entry) {
		if !of.has(e.URL) {
			return
		}
		keys = append(keys, key)
		if i := slices.IndexFunc(m.sites, func(s *site) bool { return strings.HasPrefix(e.URL, show(s.url)) }); i >= 0 {
			files[m.sites[i]]++
		}
	})
	return keys, files
}

// answered asks sites whether they answer, all at once. The error is conflict.
func (m *Mirror) answered(ctx context.Context, op string, files map[*site]int, force bool) error {
	if !force {
		within, cancel := context.WithTimeout(ctx, m.cfg.Patience)
		defer cancel()
		var wg sync.WaitGroup
		for s := range files {
			wg.Go(func() { m.probe(within, s) })
		}
		wg.Wait()
	}
	var silent []string
	for s, n := range files {
		if mayFlush(n > 0, s.answering(), force) == flushRefuse {
			silent = append(silent, show(s.url))
		}
	}
	if len(silent) == 0 {
		return nil
	}
	slices.Sort(silent)
	return protocol.Errorf(protocol.CodeConflict, op, "%s does not answer: what is cached is all that boots have of it", listed(silent)).
		WithHint("flush when it answers again, or with --force")
}

// disown takes the flights of a scope out of the book, and forgets which names were absent.
func (m *Mirror) disown(of scope) (out []*flight) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.absent) // it does not say of which URLs; it lasts for half a minute
	for _, f := range slices.Collect(maps.Values(m.flights)) {
		if of.has(show(f.asked.url)) {
			delete(m.flights, f.asked.key)
			out = append(out, f)
		}
	}
	return out
}

// disown keeps what a flight brings out of the cache. It waits while that goes in.
func (f *flight) disown() {
	f.keeping.Lock()
	defer f.keeping.Unlock()
	f.disowned = true
}

// flushBatch is how many entries are forgotten while others wait.
const flushBatch = 64

// flush removes entries and the contents that only they name.
func (s *store) flush(ctx context.Context, op string, keys []string) (out Flushed, err error) {
	for batch := range slices.Chunk(keys, flushBatch) {
		if ctx.Err() != nil {
			err = protocol.Errorf(protocol.CodeTimeout, op, "%d of %d files were dropped when the time was over", out.Files, len(keys)).
				WithHint("flush again")
			break
		}
		for _, e := range s.forgetAll(batch) {
			out.Files++
			out.Bytes += e.Size
			s.collect(e.SHA256)
			if s.blobs.Has(digestOf(e.SHA256)) {
				out.Kept++
				out.KeptBytes += e.Size
			}
		}
	}
	if serr := s.records.settle(); serr != nil && err == nil {
		err = protocol.Errorf(protocol.CodeInternal, op, "what was dropped may come back after a crash: %w", serr).
			WithHint("look at the disk of %s", s.dir)
	}
	return out, err
}

func (s *store) forgetAll(keys []string) (out []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if e := s.entries[key]; e != nil {
			out = append(out, *e)
			s.forget(key)
		}
	}
	return out
}
