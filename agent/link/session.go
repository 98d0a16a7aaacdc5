package link

import (
	"maps"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// session is what binds messages to one connection. It is safe for concurrent use.
type session struct {
	mu        sync.Mutex
	transport Transport
	id        string // random, new for each connection; empty before the first
	// asked is when the first Hello of the session was said: whatever names it was
	// made later.
	asked time.Time
	last  time.Time // when the last of it was made that was heeded
	// doubted is when the hub said what is older than that by far; zero is not since it was
	// heeded last.
	doubted time.Time
	// nonce is the last that the hub gave, and goes back in a Hello; own is that of
	// this session's Sync, and goes back in everything else.
	nonce, own string
	answered   bool
	met        bool // some session of this run was answered
	// lacking is set while the only reason for a Hello is a document that is to come.
	lacking bool

	newest    time.Time // the hub's latest time in anything heeded
	announced message.Announce
	heads     map[string]protocol.Head // the hub's documents, as far as they are known
	coming    map[string]protocol.Head // those that the last answer named and the disk lacks
	digests   map[string]string        // of those, where it said them
}

// renew begins a session, on a transport if one is given.
func (s *session) renew(id string, t Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t != nil {
		s.transport = t
	}
	s.id, s.asked, s.last, s.own, s.answered, s.lacking = id, time.Time{}, time.Time{}, "", false, false
	s.doubted = time.Time{}
}

// greet is what goes into a Hello that is said now.
func (s *session) greet(now time.Time) (id, nonce string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked.IsZero() {
		s.asked = now
	}
	return s.id, s.nonce
}

// stands is what is compared with a Sync: which session it is, when the last that was heeded
// was made, and when the first Hello was said.
func (s *session) stands() (id string, last, asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.last, s.asked
}

// names are what goes into a report.
func (s *session) names() (id, nonce string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.own
}

// heed notes a Sync of the session.
func (s *session) heed(m message.Sync) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.doubted = m.At, time.Time{}
	if m.At.After(s.newest) || !s.answered {
		s.newest = m.At // also an earlier one, where the hub's clock was set back
	}
	if m.Nonce != "" {
		s.nonce, s.own = m.Nonce, m.Nonce
	}
	if m.Heads != nil {
		s.heads, s.digests = maps.Clone(m.Heads), maps.Clone(m.Digests)
	}
}

// doubt notes that the hub says what is older by far than what was heeded. If an answer to
// the next Hello is so too, another session begins.
func (s *session) doubt(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = false
	if s.doubted.IsZero() {
		s.doubted = now
	}
}

// answer notes that the session is answered, and what is still to come.
// Where the hub was restored and raised its epoch since, it makes every document
// again, whatever it has sent before.
func (s *session) answer(lacking bool, in store.Applied, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered, s.lacking, s.met = true, lacking, true
	s.coming = s.lacks(in)
	for leaf := range s.heads {
		if _, comes := s.coming[leaf]; !comes && in.Heads[leaf].Epoch < epoch {
			s.coming[leaf] = protocol.Head{Epoch: epoch}
		}
	}
}

// current says whether every document that the hub's last answer named is in force.
func (s *session) current() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.coming) == 0
}

// guarded notes that the session is answered in guard mode, which says nothing of documents.
func (s *session) guarded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered, s.lacking = true, false
}

// reopen makes the session wait for another answer.
func (s *session) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered, s.lacking = false, false
}

// want notes that there is another reason for a Hello.
func (s *session) want() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = false
}

// hear takes an announcement. It is news if it was not heard before, and is not
// older than what was heard since.
func (s *session) hear(m message.Announce) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.announced
	if m.Hub == o.Hub && m.Nonce == o.Nonce || m.At.Before(s.newest) {
		return false
	}
	s.announced, s.newest, s.nonce = m, m.At, m.Nonce
	return true
}

// stale says whether the session was asked so long ago that an answer would not
// tell the hub's time, or was doubted so long ago that no answer ends that.
func (s *session) stale(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.asked.IsZero() && !s.answered && now.Sub(s.asked) > answerMax ||
		!s.doubted.IsZero() && now.Sub(s.doubted) > answerMax
}

// answerMax is how long a session waits for its first answer; the next Hello is of
// another one. What the hub says in answer tells its time only as exactly as the
// answer was quick.
const answerMax = 10 * time.Second

// caughtUp says whether all that a Hello was wanted for is there by now.
func (s *session) caughtUp(in store.Applied) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered && s.lacking && len(s.lacks(in)) == 0
}

// lacks are the hub's documents that are not in force; it needs s.mu.
func (s *session) lacks(in store.Applied) map[string]protocol.Head {
	lacks := map[string]protocol.Head{}
	for leaf, h := range s.heads {
		own := in.Heads[leaf]
		digest, said := s.digests[leaf]
		if own != h && !own.Newer(h) || own == h && said && digest != in.Digests[leaf] {
			lacks[leaf] = h
		}
	}
	return lacks
}

// isNewest says whether the head is the newest that the hub is known to have.
func (s *session) isNewest(leaf string, h protocol.Head) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[leaf] == h
}

// applied notes that the hub has a document. A Sync that was made before it was is
// late, and would let the hub look as if it was behind. It reports whether this was
// the last that was to come.
func (s *session) applied(leaf string, h protocol.Head, issued time.Time) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if issued.After(s.last) {
		s.last = issued
	}
	if s.heads == nil {
		s.heads = map[string]protocol.Head{}
	}
	s.heads[leaf] = h
	delete(s.digests, leaf)
	c, ok := s.coming[leaf]
	if !ok || c.Newer(h) {
		return false
	}
	delete(s.coming, leaf)
	return len(s.coming) == 0
}

func (s *session) isAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// hasMet says whether the hub has answered this run of the agent.
func (s *session) hasMet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.met
}

// way is where messages go; nil before the first connection.
func (s *session) way() Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transport
}

// standing is what the session says of the hub.
func (s *session) standing() Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Standing{Met: s.met, Answered: s.answered, LastWord: s.newest, Coming: maps.Clone(s.coming)}
}
