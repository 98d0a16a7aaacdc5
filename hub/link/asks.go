package link

import (
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

const (
	// askFor is how long an answer is waited for.
	askFor = 3 * time.Minute
	// askAgain is when a question is sent again that was not answered; it doubles. It
	// keeps its id, so that the agent answers once.
	askAgain = 10 * time.Second
	// maxAsks bounds the open questions of the hub. An agent works on two at once and
	// keeps 16 more.
	maxAsks     = 1024
	maxReadings = 2  // of one agent
	maxProbes   = 8  // of one agent
	maxTraces   = 8  // of one agent
	maxMirrors  = 4  // of one agent
	maxReads    = 64 // of one agent, which has as many at once
)

// Asked is a question that was sent and is open.
type asked struct {
	message.Ask
	agent string
	again time.Time // when to send it again
	pause time.Duration
	// done takes the answer, or one that says that none came. It is called once, by
	// whoever removes the question.
	done func(message.Answer)
}

// asks are the open questions. Nobody keeps them over a restart.
type asks struct {
	mu   sync.Mutex
	byID map[string]*asked
	of   map[askOf]int // how many are open
}

// askOf is an agent and a kind of questions.
type askOf struct {
	agent string
	kind  message.AskKind
}

func newAsks() *asks { return &asks{byID: map[string]*asked{}, of: map[askOf]int{}} }

// Add opens a question; unavailable if there are too many of its kind.
func (q *asks) add(a *asked) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	same := q.of[askOf{a.agent, a.Kind}]
	most := maxReadings
	switch a.Kind {
	case message.AskProbe, message.AskFirmware:
		most = maxProbes
	case message.AskTrace:
		most = maxTraces
	case message.AskRead:
		most = maxReads
	case message.AskMirror, message.AskFlush:
		most = maxMirrors
	case message.AskInventory:
	}
	if len(q.byID) >= maxAsks || same >= most {
		return protocol.Errorf(protocol.CodeUnavailable, "ask agent", "agent %s has %d questions of this kind to answer, the hub's agents %d in all", a.agent, same, len(q.byID)).
			WithHint("try again when those are answered")
	}
	q.byID[a.ID] = a
	q.of[askOf{a.agent, a.Kind}]++
	return nil
}

// remove forgets a question that is open; it needs q.mu.
func (q *asks) remove(a *asked) {
	delete(q.byID, a.ID)
	of := askOf{a.agent, a.Kind}
	if q.of[of]--; q.of[of] == 0 {
		delete(q.of, of)
	}
}

// Take removes a question; nil if it is not open, or another agent's.
func (q *asks) take(id, agent string) *asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.byID[id]
	if a == nil || a.agent != agent {
		return nil
	}
	q.remove(a)
	return a
}

// due are the questions to be sent again, and those that nobody waits for any more,
// which it removes.
func (q *asks) due(now time.Time) (again []asked, over []*asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, a := range q.byID {
		switch {
		case !now.Before(a.NotAfter):
			q.remove(a)
			over = append(over, a)
		case !now.Before(a.again):
			a.pause *= 2
			a.again = now.Add(a.pause)
			again = append(again, *a)
		}
	}
	return again, over
}

// open counts the questions.
func (q *asks) open() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.byID)
}
