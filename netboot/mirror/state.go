package mirror

import (
	"fmt"
	"time"
)

// State is whether a tree's host answers, and what is here of the tree.
type State struct {
	Base string
	// Asked says that the host was asked since the start. Reachable is whether it answers
	// since Since, and Why what is wrong else.
	Asked, Reachable bool
	Since            time.Time
	Why              string
	// Files and Bytes are what is cached of the tree, pins apart.
	Files int
	Bytes int64
}

// String is the text of a condition about it.
func (s State) String() string {
	here := fmt.Sprintf("%d files with %d bytes are cached", s.Files, s.Bytes)
	switch {
	case s.Base == "":
		return s.Why
	case !s.Asked:
		return fmt.Sprintf("%s was not asked since the start; %s", s.Base, here)
	case s.Reachable:
		return fmt.Sprintf("%s answers since %s; %s", s.Base, s.Since.UTC().Format(time.RFC3339), here)
	}
	return fmt.Sprintf("%s fails since %s (%s); %s, and are served", s.Base, s.Since.UTC().Format(time.RFC3339), s.Why, here)
}

// State says how it is with a tree. Of one that is not allowed it has only Why.
func (m *Mirror) State(base string) State {
	s, u, err := m.site("state of a mirror", base)
	if err != nil {
		return State{Why: err.Error()}
	}
	out := State{Base: show(u)}
	out.Files, out.Bytes = m.store.below(show(u))
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Asked, out.Reachable, out.Since, out.Why = s.known, s.ok, s.since, s.why
	return out
}
