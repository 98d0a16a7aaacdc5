package resource

import "time"

// ReportEvery is the longest time between two reports of a server.
const ReportEvery = 15 * time.Second

// longestRead bounds what one read of a BMC takes.
const longestRead = 15 * time.Second

// stalePolls is how many polls may be missed before a word about a server is stale.
const stalePolls = 3

// StaleAfter is how old the last recorded read of a server may be. poll is the rack's
// pollInterval, took what the last read has taken: a slow BMC is read as often as it
// answers, and no faster poll is told of than [ReportEvery]. A poll is never farther from the
// one before than poll and took, whatever the server's state, whoever holds it, and
// however long the BMC asks to be left alone: a read that gets no answer is one, and says
// Unreachable.
func StaleAfter(poll, took time.Duration) time.Duration {
	return stalePolls * (max(poll, ReportEvery) + min(max(took, 0), longestRead))
}

// ReadAgo is how old the last read of a server was that is on the agent's disk, when the
// report was made. known is false where nothing was read since the agent started, and
// where an agent that does not say the age has stepped its clock back.
func (s *ServerReport) ReadAgo(made time.Time) (ago time.Duration, known bool) {
	if s.ReadAge > 0 {
		return s.ReadAge, true
	}
	at := s.Observation.StartedAt
	return made.Sub(at), !at.IsZero() && !made.Before(at)
}

// ReadTook is what the last read has taken.
func (s *ServerReport) ReadTook() time.Duration {
	return s.Observation.ReadAt.Sub(s.Observation.StartedAt)
}
