package intake

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Handler does what messages say.
type Handler interface {
	// Take takes one message. Where that makes older ones of its kind worthless it returns of how
	// many parts the agent says such things, and which this is; else 0. It is called from several
	// goroutines: in each lane for one message of an agent at a time.
	Take(m Message) (part, parts int)
	// Misplaced counts a message whose topic is no agent's.
	Misplaced()
}

// workers is how many messages of a lane are handled at once; firstWorkers of the lane that what
// holds come to goes through. One that writes mostly waits for the store.
const (
	workers      = 4
	firstWorkers = 16
)

const (
	firstLine, firstBytes     = 256, 16 << 20
	reportsLine, reportsBytes = 32, 64 << 20
	eventsLine, eventsBytes   = 16, 64 << 20
	restLine, restBytes       = 32, 64 << 20 // an agent has 18 questions open at most
)

// Intake has what waits to be handled. Make it with New.
type Intake struct {
	handler                      Handler
	first, reports, events, rest *lane
	metrics                      *metrics
}

// New makes an intake. Errors: internal if the metrics are registered already.
func New(h Handler, r prometheus.Registerer) (*Intake, error) {
	i := &Intake{
		handler: h,
		first:   newLane("first", firstWorkers, bounds{firstLine, firstBytes}, false),
		reports: newLane("reports", workers, bounds{reportsLine, reportsBytes}, true),
		events:  newLane("events", workers, bounds{eventsLine, eventsBytes}, true),
		rest:    newLane("rest", workers, bounds{restLine, restBytes}, false),
	}
	i.metrics = newMetrics(i.lanes())
	if err := r.Register(i.metrics); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "intake.New", "cannot register metrics: %w", err)
	}
	return i, nil
}

func (i *Intake) lanes() []*lane { return []*lane{i.first, i.reports, i.events, i.rest} }

// laneOf is where a message waits.
func (i *Intake) laneOf(m Message) *lane {
	switch m.Leaf {
	case message.LeafHello, message.LeafApplied:
		return i.first
	case message.LeafReport:
		return i.reports
	case message.LeafEvent:
		return i.events
	}
	return i.rest
}

// Put has a message wait for its turn. It never waits itself, and owns payload.
func (i *Intake) Put(topic string, payload []byte) {
	m, ok := Parse(topic, payload)
	if !ok {
		i.handler.Misplaced()
		return
	}
	for _, d := range i.laneOf(m).put(m) {
		i.metrics.dropped.WithLabelValues(d.kind(), string(d.why)).Inc()
	}
}

// Run handles what was put until ctx ends, and returns nil when the last message was handled that
// was begun. What waits then is lost, as when the hub is killed.
func (i *Intake) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range i.lanes() {
		for range l.workers {
			all.Go(func() { i.work(ctx, l) })
		}
	}
	all.Wait()
	return nil
}

func (i *Intake) work(ctx context.Context, l *lane) {
	for {
		agent, taken, ok := l.next(ctx)
		if !ok {
			return
		}
		for _, m := range taken {
			i.metrics.waited.WithLabelValues(l.name).Observe(time.Since(m.since).Seconds())
		}
		if over := newestFirst(taken, i.handler.Take); over > 0 {
			i.metrics.overtaken.WithLabelValues(taken[0].kind()).Add(float64(over))
		}
		l.done(agent)
	}
}

// newestFirst takes messages of one agent, of which the oldest is the first, and returns how many
// need not be taken, because a newer one of each part was.
func newestFirst(messages []waiting, take func(Message) (part, parts int)) (over int) {
	had := map[int]bool{}
	for i, m := range slices.Backward(messages) {
		part, parts := take(m.Message)
		if parts == 0 {
			continue
		}
		if had[part] = true; len(had) >= parts {
			return i
		}
	}
	return 0
}

// lane is a queue for several goroutines.
type lane struct {
	name    string
	workers int
	all     bool // an agent's turn is all that waits of it

	mu    sync.Mutex
	queue *queue
	ready chan struct{} // has room for one: a worker looks again
}

func newLane(name string, workers int, b bounds, all bool) *lane {
	return &lane{name: name, workers: workers, all: all, queue: newQueue(b), ready: make(chan struct{}, 1)}
}

func (l *lane) put(m Message) []drop {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.tell()
	return l.queue.put(m, time.Now())
}

// next waits for a turn; ok is false once ctx has ended.
func (l *lane) next(ctx context.Context) (agent string, taken []waiting, ok bool) {
	for ctx.Err() == nil {
		if agent, taken = l.take(); len(taken) > 0 {
			return agent, taken, true
		}
		select {
		case <-ctx.Done():
		case <-l.ready:
		}
	}
	return "", nil, false
}

func (l *lane) take() (agent string, taken []waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	agent, taken = l.queue.next(l.all)
	if len(l.queue.round) > 0 {
		l.tell() // another worker
	}
	return agent, taken
}

func (l *lane) done(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue.done(agent)
	l.tell()
}

// waiting is how much waits.
func (l *lane) waiting() (messages, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.messages, l.queue.bytes
}

func (l *lane) tell() {
	select {
	case l.ready <- struct{}{}:
	default:
	}
}
