package link

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// speakers are the sessions in which an agent certainly spoke, and which agent each is of.
type speakers struct {
	present string                       // the last one
	past    []string                     // those before it
	runs    map[string]resource.AgentRun // by session, as its last Hello says
	// asked is when a run that another took over from was asked whether it still speaks.
	asked time.Time
	// waits is the session whose Hello waits for that; empty is none.
	waits string
}

// pastSessions bounds the sessions of an agent that are remembered as over.
const pastSessions = 8

// speaker is whose a message is that certainly is new.
type speaker string

const (
	speakerSame speaker = "same" // of the session that spoke last
	speakerNew  speaker = "new"  // of another one, which never spoke before
	speakerBack speaker = "back" // of one that another had taken over from
	speakerLate speaker = "late" // likewise, but it may have been said before that
)

// speakerRule says whose a message is. The first row that fits decides.
//
//	session | after | speaker
//	present | *     | same
//	*       | no    | late
//	past    | yes   | back
//	new     | yes   | new
//
// after is that its nonce was given after the present session had spoken first. An agent never goes back to
// an earlier session: each connection makes its own. So one that speaks then, in a session of before, is
// another agent with the same key.
func speakerRule(session sessionAge, after bool) speaker {
	switch {
	case session == sessionPresent:
		return speakerSame
	case !after:
		return speakerLate
	case session == sessionPast:
		return speakerBack
	}
	return speakerNew
}

// sessionAge is what is known of a session.
type sessionAge string

const (
	sessionPresent sessionAge = "present"
	sessionPast    sessionAge = "past"
	sessionNew     sessionAge = "new"
)

func (s *speakers) ageOf(session string) sessionAge {
	switch {
	case session == s.present:
		return sessionPresent
	case slices.Contains(s.past, session):
		return sessionPast
	}
	return sessionNew
}

// speaks notes that a session spoke, with a nonce that was given after the present one had, or not. former
// is the one that it took over from; empty where it did not.
func (s *speakers) speaks(session string, after bool) (who speaker, former string) {
	who = speakerRule(s.ageOf(session), after)
	if who == speakerSame || who == speakerLate {
		return who, ""
	}
	if former = s.present; former != "" && !slices.Contains(s.past, former) {
		s.past = append(s.past, former)
		for len(s.past) > pastSessions {
			delete(s.runs, s.past[0])
			s.past = s.past[1:]
		}
	}
	s.present = session
	return who, former
}

// answerWithin is how long a run that another one took over from has to say that it still speaks, before
// it is concluded from the other's disk that it was rolled back, or is another one.
const answerWithin = 2 * time.Second

// takesOver notes that a session took over from another, if that is of another run.
func (s *speakers) takesOver(from string, now time.Time) {
	if a, b := s.runs[from].Run, s.runs[s.present].Run; a != "" && b != "" && a != b {
		s.asked = now
	}
}

// defers has the Hello of a session wait, if a run was asked a moment ago.
func (s *speakers) defers(session string, now time.Time) bool {
	if now.Sub(s.asked) >= answerWithin {
		return false
	}
	s.waits = session
	return true
}

// over is the session whose Hello has waited long enough; empty is none.
func (s *speakers) over(now time.Time) (session string) {
	if s.waits != "" && now.Sub(s.asked) >= answerWithin {
		session, s.waits = s.waits, ""
	}
	return session
}

// heard notes when a session was heard.
func (s *speakers) heard(session string, now time.Time) {
	if r, there := s.runs[session]; there {
		r.Last = now
		s.runs[session] = r
	}
}

// maxRuns bounds the sessions of an agent whose Hello is remembered.
const maxRuns = 2 * pastSessions

// told takes what a Hello says of its agent.
func (s *speakers) told(session string, r resource.AgentRun) {
	if was, there := s.runs[session]; there {
		r.First = was.First
	} else if len(s.runs) >= maxRuns {
		clear(s.runs)
	}
	if s.runs == nil {
		s.runs = map[string]resource.AgentRun{}
	}
	s.runs[session] = r
}
