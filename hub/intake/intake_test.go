package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// hall is a handler that notes what it takes, and holds up who says so.
type hall struct {
	mu        sync.Mutex
	taken     []string
	misplaced int
	of        func(m Message) (part, parts int)
	closed    map[string]chan struct{} // by leaf: until it is closed nobody comes through
}

func (h *hall) Take(m Message) (part, parts int) {
	h.mu.Lock()
	h.taken = append(h.taken, m.Agent+" "+m.Leaf+" "+string(m.Payload))
	door := h.closed[m.Leaf]
	h.mu.Unlock()
	if door != nil {
		<-door
	}
	if h.of != nil {
		return h.of(m)
	}
	return 0, 0
}

func (h *hall) Misplaced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.misplaced++
}

// came is what was taken since the last call, once nothing moves any more.
func (h *hall) came() (out []string) {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	out, h.taken = h.taken, nil
	slices.Sort(out)
	return out
}

// begin runs an intake in a bubble until the test ends.
func begin(t *testing.T, h *hall) *Intake {
	t.Helper()
	i, err := New(h, prometheus.NewPedanticRegistry())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := i.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return i
}

func put(i *Intake, agent, leaf, what string) { i.Put(message.TopicUp(agent, leaf), []byte(what)) }

// While every worker for reports and events is held up, Hellos and acknowledgements come through;
// one agent's message that takes long holds up nothing of another's.
func TestNobodyWaitsBehindReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		doors := map[string]chan struct{}{message.LeafReport: make(chan struct{}), message.LeafEvent: make(chan struct{})}
		h := &hall{closed: doors}
		i := begin(t, h)
		for n := range 2 * workers {
			agent := fmt.Sprintf("chatty-%d", n)
			put(i, agent, message.LeafReport, "1")
			put(i, agent, message.LeafEvent, "1")
		}
		if got := h.came(); len(got) != 2*workers {
			t.Fatalf("%d at once: %q", len(got), got)
		}
		put(i, "chatty-0", message.LeafApplied, "a")
		put(i, "quiet", message.LeafHello, "h")
		if got := h.came(); !slices.Equal(got, []string{"chatty-0 applied a", "quiet hello h"}) {
			t.Errorf("came: %q", got)
		}
		for _, door := range doors {
			close(door)
		}
		if got := h.came(); len(got) != 2*workers {
			t.Errorf("%d after that: %q", len(got), got)
		}
	})
}

// A flood of one agent takes one worker, and others do not wait for its end.
func TestAFloodTakesOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := make(chan struct{})
		h := &hall{closed: map[string]chan struct{}{message.LeafAnswer: door}}
		i := begin(t, h)
		put(i, "chatty", message.LeafAnswer, "0")
		if got := h.came(); !slices.Equal(got, []string{"chatty answer 0"}) {
			t.Fatalf("came: %q", got)
		}
		for n := range 999 {
			put(i, "chatty", message.LeafAnswer, fmt.Sprint(n+1))
		}
		put(i, "quiet", message.LeafAnswer, "1")
		if got := h.came(); !slices.Equal(got, []string{"quiet answer 1"}) {
			t.Errorf("came: %q", got)
		}
		if got := testutil.ToFloat64(i.metrics.dropped.WithLabelValues(message.LeafAnswer, string(whyLine))); got != 1000-1-restLine {
			t.Errorf("%g were dropped", got)
		}
		close(door)
		got := h.came()
		if len(got) != restLine || got[len(got)-1] != "chatty answer 999" {
			t.Errorf("the newest do not come: %q", got)
		}
	})
}

func TestPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hall{}
		i := begin(t, h)
		i.Put("rb/v1/h/announce", nil)
		i.Put(message.TopicDown("rack-1", message.LeafHold), nil)
		i.Put("", nil)
		put(i, "rack-1", "future/x", "1")
		if got := h.came(); !slices.Equal(got, []string{"rack-1 future/x 1"}) || h.misplaced != 3 {
			t.Errorf("came: %q, misplaced %d", got, h.misplaced)
		}
	})
}

// Messages are taken from the newest on, until one of each part was taken over.
func TestNewestFirst(t *testing.T) {
	// A message is "part/parts", or "-" for one that is not taken over.
	for _, row := range []struct {
		name, waiting, taken string
		over                 int
	}{
		{"one", "0/1", "0/1", 0},
		{"of three the newest", "0/1 0/1 0/1", "0/1", 2},
		{"the newest is refused", "0/1 0/1 -", "- 0/1", 1},
		{"all are refused", "- - -", "- - -", 0},
		{"three parts, each once", "0/3 1/3 2/3", "2/3 1/3 0/3", 0},
		{"two parts, several times", "0/2 1/2 0/2 1/2 1/2", "1/2 1/2 0/2", 2},
		{"a part that is missing", "1/3 2/3 1/3 2/3", "2/3 1/3 2/3 1/3", 0},
		{"there are fewer parts than before", "0/2 1/2 0/1", "0/1", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			var messages []waiting
			for what := range strings.FieldsSeq(row.waiting) {
				messages = append(messages, waiting{Message: said("a", message.LeafReport, what)})
			}
			var taken []string
			over := newestFirst(messages, func(m Message) (part, parts int) {
				taken = append(taken, string(m.Payload))
				if _, err := fmt.Sscanf(string(m.Payload), "%d/%d", &part, &parts); err != nil {
					return 0, 0
				}
				return part, parts
			})
			if got := strings.Join(taken, " "); got != row.taken || over != row.over {
				t.Errorf("taken %q and %d are over, want %q and %d", got, over, row.taken, row.over)
			}
		})
	}
}

// Reports that wait while one is handled are one turn.
func TestOlderReportsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := make(chan struct{})
		h := &hall{closed: map[string]chan struct{}{message.LeafReport: door}, of: func(Message) (int, int) { return 0, 1 }}
		i := begin(t, h)
		put(i, "a", message.LeafReport, "0")
		if got := h.came(); len(got) != 1 {
			t.Fatal(got)
		}
		for n := range 9 {
			put(i, "a", message.LeafReport, fmt.Sprint(n+1))
		}
		close(door)
		if got := h.came(); !slices.Equal(got, []string{"a report 9"}) {
			t.Errorf("came: %q", got)
		}
		if got := testutil.ToFloat64(i.metrics.overtaken.WithLabelValues(message.LeafReport)); got != 8 {
			t.Errorf("%g were overtaken", got)
		}
	})
}

// Whoever puts, whatever is put, from many goroutines: each agent's messages of a lane come in
// their order, one at a time. Run with -race it is about the locks.
func TestOrderOfEachAgentAndLane(t *testing.T) {
	const agents, each = 20, 100
	var mu sync.Mutex
	last, inside := map[string]int{}, map[string]int{}
	var done sync.WaitGroup
	done.Add(agents * 2 * each)
	i, err := New(checker(func(m Message) {
		lane := "first"
		if m.Leaf == message.LeafAnswer {
			lane = "rest"
		}
		var n int
		if _, err := fmt.Sscan(string(m.Payload), &n); err != nil {
			t.Error(err)
		}
		mu.Lock()
		if inside[m.Agent+lane]++; inside[m.Agent+lane] > 1 {
			t.Errorf("two of %s in lane %s at once", m.Agent, lane)
		}
		if n != last[m.Agent+lane]+1 {
			t.Errorf("%s %s: %d after %d", m.Agent, lane, n, last[m.Agent+lane])
		}
		last[m.Agent+lane] = n
		mu.Unlock()
		mu.Lock()
		inside[m.Agent+lane]--
		mu.Unlock()
		done.Done()
	}), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	i.rest.queue.line = each // nothing is to be dropped
	ctx, cancel := context.WithCancel(t.Context())
	var running, putting sync.WaitGroup
	running.Go(func() {
		if err := i.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for a := range agents {
		name := fmt.Sprintf("agent-%d", a)
		putting.Go(func() {
			for n := range each {
				put(i, name, []string{message.LeafHello, message.LeafApplied}[n%2], fmt.Sprint(n+1))
			}
		})
		putting.Go(func() {
			for n := range each {
				put(i, name, message.LeafAnswer, fmt.Sprint(n+1))
			}
		})
	}
	putting.Wait()
	done.Wait()
	cancel()
	running.Wait()
}

type checker func(Message)

func (c checker) Take(m Message) (part, parts int) { c(m); return 0, 0 }
func (checker) Misplaced()                         {}

func TestMetrics(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	i, err := New(&hall{}, r)
	if err != nil {
		t.Fatal(err)
	}
	put(i, "a", message.LeafHello, "12345")
	put(i, "b", message.LeafReport, "1")
	want := `
# HELP rackboot_hub_intake_messages Messages of agents that wait to be handled, by lane.
# TYPE rackboot_hub_intake_messages gauge
rackboot_hub_intake_messages{lane="events"} 0
rackboot_hub_intake_messages{lane="first"} 1
rackboot_hub_intake_messages{lane="reports"} 1
rackboot_hub_intake_messages{lane="rest"} 0
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "rackboot_hub_intake_messages"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if _, err := New(&hall{}, r); protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("registered twice: %v", err)
	}
}
