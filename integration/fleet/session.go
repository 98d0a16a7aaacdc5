package fleet

import (
	"math/rand/v2"
	"time"

	"rackboot/protocol/message"
)

// The pauses between two Hellos: the least, and what it doubles to, ± 50 %.
const (
	helloPause    = 2 * time.Second
	helloPauseMax = 30 * time.Second
	// answerMax is how long a session waits for its first answer; the next Hello is of
	// another one.
	answerMax = 10 * time.Second
)

// session is what binds messages to one connection, as docs/PROTOCOL.md says.
type session struct {
	id          string // empty before the first connection
	asked       time.Time
	last        time.Time // of the hub's messages that were heeded
	doubted     time.Time
	nonce, own  string
	answered    bool
	newest      time.Time
	announced   string // hub and nonce
	hello       time.Time
	wanted      bool
	pause       time.Duration
	lackingOnly bool // the Hello is wanted only for documents that are to come
	replies     int  // Hellos that the hub has asked for since it last answered
}

// begin begins another session.
func (s *session) begin(now time.Time) {
	s.id, s.own, s.answered = random(), "", false
	s.asked, s.last, s.doubted = time.Time{}, time.Time{}, time.Time{}
	s.pause = helloPause
	s.ask(now)
}

// ask wants a Hello.
func (s *session) ask(at time.Time) {
	if !s.wanted || at.Before(s.hello) {
		s.hello = at
	}
	s.wanted, s.lackingOnly = true, false
}

// reply wants a Hello at once, as the hub asked for; after some it waits for its time.
func (s *session) reply(now time.Time) {
	if s.replies++; s.replies > quickReplies {
		now = later(now, s.hello)
	}
	s.ask(now)
}

const quickReplies = 3

// due says whether a Hello is due, and counts it as said.
func (s *session) due(now time.Time) (is bool, wait time.Duration) {
	switch {
	case s.id == "" || !s.wanted:
		return false, never
	case now.Before(s.hello):
		return false, s.hello.Sub(now)
	}
	if !s.asked.IsZero() && !s.answered && now.Sub(s.asked) > answerMax || !s.doubted.IsZero() && now.Sub(s.doubted) > answerMax {
		pause := s.pause
		s.begin(now)
		s.pause = pause
	}
	if s.asked.IsZero() {
		s.asked = now
	}
	wait = s.pause/2 + rand.N(s.pause)
	s.hello, s.pause = now.Add(wait), min(2*s.pause, helloPauseMax)
	return true, wait
}

// heed notes a Sync of the session.
func (s *session) heed(m message.Sync) {
	s.last, s.doubted = m.At, time.Time{}
	if m.At.After(s.newest) || !s.answered {
		s.newest = m.At
	}
	if m.Nonce != "" {
		s.nonce, s.own = m.Nonce, m.Nonce
	}
}

// answer notes that the hub has answered, and whether documents are to come.
func (s *session) answer(now time.Time, lacking bool) (first bool) {
	first = !s.answered
	s.answered, s.wanted, s.pause, s.replies = true, false, helloPause, 0
	if lacking {
		s.ask(now.Add(helloPause)) // unless they have come by then
		s.lackingOnly = true
	}
	return first
}

// hear takes an announcement, and says whether it is news.
func (s *session) hear(m message.Announce) bool {
	is := m.Hub + " " + m.Nonce
	if is == s.announced || m.At.Before(s.newest) {
		return false
	}
	s.announced, s.newest, s.nonce = is, m.At, m.Nonce
	return true
}
