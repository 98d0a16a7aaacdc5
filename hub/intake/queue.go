package intake

import "time"

// bounds are those of a queue.
type bounds struct {
	line  int // messages of one agent
	bytes int // of all
}

// why is why a message was dropped, a label of metrics.
type why string

const (
	whyLine why = "line" // its agent's line was full
	whyLane why = "lane" // all lines together were
)

var whys = []why{whyLine, whyLane}

// drop is a message that had to go.
type drop struct {
	Message
	why why
}

// waiting is a message in a line.
type waiting struct {
	Message
	since time.Time
}

// line is what waits of one agent, the oldest first. At most one of stands and out is so.
type line struct {
	messages []waiting
	bytes    int
	stands   bool // in the round
	out      bool // some of it is being handled
}

// queue has what waits in one lane. It is pure, and for one goroutine at a time.
type queue struct {
	bounds
	lines    map[string]*line // with something waiting, or out
	round    []string         // whose turn comes, in order
	messages int
	bytes    int
}

func newQueue(b bounds) *queue { return &queue{bounds: b, lines: map[string]*line{}} }

// put lets a message wait, and returns what had to go for it. That may be the message itself.
func (q *queue) put(m Message, now time.Time) (dropped []drop) {
	l := q.lines[m.Agent]
	if l == nil {
		l = &line{}
		q.lines[m.Agent] = l
	}
	if !l.stands && !l.out {
		q.stand(m.Agent, l)
	}
	l.messages = append(l.messages, waiting{m, now})
	l.bytes += m.size()
	q.messages++
	q.bytes += m.size()
	for len(l.messages) > q.line {
		dropped = append(dropped, drop{q.shift(l).Message, whyLine})
	}
	for q.bytes > q.bounds.bytes {
		dropped = append(dropped, drop{q.shift(q.longest()).Message, whyLane})
	}
	return dropped
}

// longest is the line with the most bytes, of several the first by name. It is looked for only
// when the lane is full.
func (q *queue) longest() (most *line) {
	name := ""
	for agent, l := range q.lines {
		if most == nil || l.bytes > most.bytes || l.bytes == most.bytes && agent < name {
			most, name = l, agent
		}
	}
	return most
}

// shift takes the oldest message out of a line.
func (q *queue) shift(l *line) waiting {
	m := l.messages[0]
	l.messages[0] = waiting{}
	if l.messages = l.messages[1:]; len(l.messages) == 0 {
		l.messages = nil
	}
	l.bytes -= m.size()
	q.messages--
	q.bytes -= m.size()
	return m
}

// next takes the agent out whose turn it is, with the oldest of its messages, or with all. It gets
// no other turn before done.
func (q *queue) next(all bool) (agent string, taken []waiting) {
	for len(q.round) > 0 {
		agent, q.round = q.round[0], q.round[1:]
		l := q.lines[agent]
		l.stands = false
		for len(l.messages) > 0 && (all || len(taken) == 0) {
			taken = append(taken, q.shift(l))
		}
		if len(taken) > 0 {
			l.out = true
			return agent, taken
		}
		delete(q.lines, agent) // what waited had to go
	}
	return "", nil
}

// done ends the turn of an agent.
func (q *queue) done(agent string) {
	l := q.lines[agent]
	l.out = false
	if len(l.messages) == 0 {
		delete(q.lines, agent)
		return
	}
	q.stand(agent, l)
}

// stand has an agent come after all others.
func (q *queue) stand(agent string, l *line) {
	l.stands = true
	q.round = append(q.round, agent)
}
