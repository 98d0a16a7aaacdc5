package mirror

import (
	"strings"
	"time"

	"rackboot/protocol"
)

// State is whether a tree's host answers, and what is here of the tree.
type State struct {
	Base string
	// Asked says that the host was asked since the start. Reachable is whether it answers,
	// since Since.
	Asked, Reachable bool
	Since            time.Time
	// Reached is its last answer, Broke its last failure, Code and Why what that was. They are
	// zero where there was none since the start. Rests is until when it is not asked for what
	// is here; zero where it is.
	Reached, Broke, Rests time.Time
	Code                  protocol.Code
	Why                   string
	Held
	Opens Opens
}

// Held is what is cached of a tree, pins apart.
type Held struct {
	Files int
	Bytes int64
	// Fresh are the files that are given without asking again.
	Fresh int
	// Validated is when the other side said last of one of them that it is the file, and Oldest
	// the same of the one of which it said so least lately.
	Validated, Oldest time.Time
}

func (h *Held) add(e *entry, now time.Time, fresh time.Duration) {
	h.Files++
	h.Bytes += e.Size
	if e.fresh(now, fresh) {
		h.Fresh++
	}
	if e.Checked.After(h.Validated) {
		h.Validated = e.Checked
	}
	if h.Oldest.IsZero() || e.Checked.Before(h.Oldest) {
		h.Oldest = e.Checked
	}
}

// States says how it is with each base, in the order of their URLs' lengths. What is cached
// counts at the longest base that it is below. Used is the size of all that is kept on disk,
// Pinned of what may not be removed, in bytes.
func (m *Mirror) States() (all []State, used, pinned int64) {
	now := time.Now()
	for _, s := range m.sites {
		all = append(all, s.state(now))
	}
	m.store.each(func(_ string, e *entry) {
		for i, s := range m.sites {
			if strings.HasPrefix(e.URL, show(s.url)) {
				all[i].add(e, now, m.cfg.Fresh)
				return
			}
		}
	})
	used, pinned = m.store.usage()
	return all, used, pinned
}

// Quota is how many bytes may be kept.
func (m *Mirror) Quota() int64 { return m.cfg.Quota }

// State says how it is with a tree. Of one that is not allowed it has only Why.
func (m *Mirror) State(base string) State {
	s, u, err := m.site("state of a mirror", base)
	if err != nil {
		return State{Why: err.Error()}
	}
	now := time.Now()
	out := s.state(now)
	out.Base = show(u)
	m.store.each(func(_ string, e *entry) {
		if strings.HasPrefix(e.URL, out.Base) {
			out.add(e, now, m.cfg.Fresh)
		}
	})
	return out
}

func (s *site) state(now time.Time) State {
	out := State{Base: show(s.url), Opens: s.opens.now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Asked, out.Reachable, out.Since = s.known, s.ok, s.since
	out.Reached, out.Broke, out.Code, out.Why = s.reached, s.broke, s.code, s.why
	if now.Before(s.rest) {
		out.Rests = s.rest
	}
	return out
}
