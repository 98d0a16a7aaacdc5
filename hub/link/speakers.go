package link

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// speakers are the sessions in which an agent certainly spoke.
type speakers struct {
	present               string   // the last one
	past                  []string // those before it
	back                  bool     // one of those spoke again, and nobody was told yet
	copiedSince, copiedAt time.Time
}

// copiedFor is how long after the last sign of a copy the agent's condition ends.
const copiedFor = time.Hour

// pastSessions bounds the sessions of an agent that are remembered as over.
const pastSessions = 8

// speaks notes a session of which a message is certainly new, and says whether it is one that
// another has taken over from. An agent never goes back to an earlier session: each
// connection makes its own. So two processes speak in turn, with one key.
func (s *speakers) speaks(session string) (back bool) {
	if session == s.present {
		return false
	}
	back = slices.Contains(s.past, session)
	if s.present != "" && !slices.Contains(s.past, s.present) {
		s.past = append(s.past, s.present)
		s.past = s.past[max(0, len(s.past)-pastSessions):]
	}
	s.present = session
	return back
}

// condition is the condition of an agent that was suspected lately.
func (s *speakers) condition(now time.Time) *resource.ConditionState {
	if s.copiedAt.IsZero() || now.Sub(s.copiedAt) > copiedFor {
		return nil
	}
	return &resource.ConditionState{Code: resource.CondAgentCopied, Since: s.copiedSince, Message: "two sessions speak in turn, last at " + s.copiedAt.UTC().Format(time.RFC3339)}
}
