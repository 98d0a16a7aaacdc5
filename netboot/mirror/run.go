package mirror

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"rackboot/protocol"
)

// New opens the cache. Errors: invalid, conflict (another process has the folder),
// internal.
func New(c Config) (*Mirror, error) {
	const op = "open the mirror's cache"
	c, err := c.withDefaults(op)
	if err != nil {
		return nil, err
	}
	m := &Mirror{cfg: c, slots: newSlots(c.Fetches, c.Queue), flights: map[string]*flight{}, absent: map[string]absence{}}
	for _, b := range c.Bases {
		s, err := newSite(op, b)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(m.sites, func(o *site) bool { return o.url.String() == s.url.String() }) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is listed twice", s.url).WithHint("name it once in repositories.bases")
		}
		s.next = transport(c, s)
		m.sites = append(m.sites, s)
	}
	slices.SortStableFunc(m.sites, func(a, b *site) int { return cmp.Compare(len(b.url.Path), len(a.url.Path)) })
	if m.store, err = openStore(op, c); err != nil {
		return nil, err
	}
	if m.metrics, err = newMetrics(m); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", errors.Join(err, m.store.close()))
	}
	m.store.evict = m.metrics.evictions.Inc
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m, nil
}

// Close ends what is under way and gives up the folder. Files that were opened stay
// readable as far as they are here.
func (m *Mirror) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.wg.Wait()
	for _, s := range m.sites {
		if t, ok := s.next.(*http.Transport); ok {
			t.CloseIdleConnections()
		}
	}
	m.metrics.unregister(m.cfg.Registerer)
	return m.store.close()
}

// Run asks sites that failed, every 30 s, whether they answer again, so that State says
// so without anybody who boots. It returns when ctx ends, with nil.
func (m *Mirror) Run(ctx context.Context) error {
	t := time.NewTicker(probeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		for _, s := range m.sites {
			if s.failing() {
				m.probe(ctx, s)
			}
		}
	}
}

// probe asks a site for its own URL. Whatever it answers, it is heard.
func (m *Mirror) probe(ctx context.Context, s *site) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Wait)
	defer cancel()
	if err := m.slots.take(ctx); err != nil {
		return
	}
	defer m.slots.give()
	resp, err := m.ask(ctx, s, http.MethodHead, s.url, nil)
	m.hear(s, classify(resp, err, ""))
	if err == nil {
		_ = resp.Body.Close() // it has none
	}
}

// site is the site of a tree, and the tree's URL. Errors: invalid, denied.
func (m *Mirror) site(op, base string) (*site, *url.URL, error) {
	u, err := parseBase(op, base)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range m.sites {
		if s.covers(u) {
			return s, u, nil
		}
	}
	return nil, nil, protocol.Errorf(protocol.CodeDenied, op, "%s is not among the repositories that this rack may ask", show(u)).
		WithHint("name it, or a URL above it, in repositories.bases of the agent's file")
}

// hear notes what an answer says of the site.
func (m *Mirror) hear(s *site, v reply) {
	now := time.Now()
	switch v.answer {
	case answerLocal:
	case answerTrouble:
		if s.failed(now, v.err) {
			m.cfg.Logger.Warn("mirror's origin fails; what is cached is served", "base", s.url.String(), "err", v.err)
		}
	case answerWhole, answerSame, answerAbsent, answerFolder, answerDenied:
		if s.answered(now) {
			m.cfg.Logger.Info("mirror's origin answers", "base", s.url.String())
		}
	}
	m.metrics.answers.WithLabelValues(string(v.answer)).Inc()
}
