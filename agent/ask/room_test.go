package ask

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestManyQuestions: however many were asked in the last minutes, the next one is
// taken, and what is repeated soon is known.
func TestManyQuestions(t *testing.T) {
	q := New(Config{Registerer: prometheus.NewRegistry()})
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	id := func(i int) string { return fmt.Sprintf("n%03d", i) }
	for i := range 3 * asksKnown {
		if at = at.Add(time.Millisecond); q.note(id(i), at) {
			t.Fatalf("question %d is not new", i)
		}
	}
	if !q.note(id(3*asksKnown-1), at) || !q.note(id(2*asksKnown), at) || len(q.seen) != asksKnown {
		t.Errorf("of the last %d some are forgotten; %d are kept", asksKnown, len(q.seen))
	}
	if q.note(id(3*asksKnown-1), at.Add(askRepeat)) {
		t.Error("a question is known for longer than askRepeat")
	}
}
