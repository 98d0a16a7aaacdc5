package sim

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// Fault is a one-off answer, for requests that arrive after Inject.
type Fault struct {
	Method string // empty: any
	Path   string // end of the path; empty: any
	// Status is the answer's status; 0 closes the connection without an answer.
	Status    int
	MessageID string // Redfish MessageId; empty for a body without one
	Header    http.Header
	Body      string // instead of a Redfish error body
	Delay     time.Duration
	// Perform does what was asked before the answer is lost or replaced.
	Perform bool
	Times   int // 0 counts as 1
}

// Inject adds a fault. Faults are matched in the order of their injection.
func (b *BMC) Inject(f Fault) {
	f.Times = max(1, f.Times)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, f)
}

// ClearFaults forgets the faults that were not used.
func (b *BMC) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

// takeFault uses up one fault that matches.
func (b *BMC) takeFault(r *http.Request) (Fault, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.faults {
		f := &b.faults[i]
		if f.Method != "" && f.Method != r.Method || !strings.HasSuffix(r.URL.Path, f.Path) {
			continue
		}
		got := *f
		if f.Times--; f.Times == 0 {
			b.faults = append(b.faults[:i:i], b.faults[i+1:]...)
		}
		return got, true
	}
	return Fault{}, false
}

// answer gives the fault's answer.
func (f Fault) answer(w http.ResponseWriter) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), f.Header)
	if f.Body != "" {
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	writeError(w, &refusal{status: f.Status, id: f.MessageID, text: "injected"})
}
