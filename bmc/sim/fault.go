package sim

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"rackboot/bmc/sim/tree"
)

// Fault is an answer that differs from the usual, for requests that arrive
// after Inject. Faults of which several fit are used up one after the other, so
// that a list of them is a script.
type Fault struct {
	Method string // empty: any
	Path   string // end of the path; empty: any
	// Status is the answer's status; 0 closes the connection without an answer,
	// unless Merge or Pass is given.
	Status    int
	MessageID string // Redfish MessageId; empty for a body without one
	Header    http.Header
	Body      string // instead of a Redfish error body
	// Merge is a JSON object that is put over the usual answer (RFC 7396); what
	// was asked is done. The status stays unless Status is given.
	Merge string
	Delay time.Duration
	// Pass answers as usual, after Delay: a step of a script.
	Pass bool
	// Perform does what was asked before the answer is lost or replaced.
	Perform bool
	Times   int // 0 counts as 1
}

// faults are those that were not used. Its methods are safe for concurrent use.
type faults struct {
	mu   sync.Mutex
	list []Fault
}

func newFaults() *faults { return new(faults) }

// inject adds faults. Faults are matched in the order of their injection.
func (l *faults) inject(more ...Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range more {
		f.Times = max(1, f.Times)
		l.list = append(l.list, f)
	}
}

// clear forgets the faults that were not used.
func (l *faults) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// take uses up one fault that matches.
func (l *faults) take(r *http.Request) (Fault, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := strings.TrimRight(r.URL.Path, "/")
	for i := range l.list {
		f := &l.list[i]
		if f.Method != "" && f.Method != r.Method || !strings.HasSuffix(path, strings.TrimRight(f.Path, "/")) {
			continue
		}
		got := *f
		if f.Times--; f.Times == 0 {
			l.list = append(l.list[:i:i], l.list[i+1:]...)
		}
		return got, true
	}
	return Fault{}, false
}

// performs says whether what was asked is done.
func (f Fault) performs() bool { return f.Perform || f.Pass || f.Merge != "" }

// answer gives the fault's answer; usual is nil unless the fault performs.
func (f Fault) answer(usual *answer) *answer {
	if f.Pass {
		return usual
	}
	if f.Merge != "" {
		patch, err := tree.ParseObject([]byte(f.Merge))
		if err != nil {
			panic("sim: Fault.Merge: " + err.Error())
		}
		usual.body = tree.Merge(usual.body, patch).(tree.Object)
		if f.Status != 0 {
			usual.status = f.Status
		}
		maps.Copy(usual.header, f.Header)
		return usual
	}
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	a := refuse(&refusal{status: f.Status, id: f.MessageID, text: "injected"})
	maps.Copy(a.header, f.Header)
	if f.Body != "" {
		a.stream = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(f.Status)
			_, _ = w.Write([]byte(f.Body))
		}
	}
	return a
}
