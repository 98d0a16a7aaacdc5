package tftp

import (
	"testing"
	"time"
)

// TestAcked: numbers, windows and the rollover (RFC 7440 section 4).
func TestAcked(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		name             string
		n                uint16
		f                flow
		news             bool
		first, last, rep int64 // due then
		hurry            bool
	}{
		{"lockstep, the next", 1, flow{window: 1, total: 9, sent: 1}, true, 2, 2, 0, false},
		{"lockstep, repeated", 1, flow{window: 1, total: 9, base: 1, sent: 2}, false, 2, 2, 1, false},
		{"whole window", 4, flow{window: 4, total: 9, sent: 4}, true, 5, 8, 0, false},
		{"the window before the last", 8, flow{window: 4, total: 9, base: 4, sent: 8}, true, 9, 9, 0, false},
		{"within the window", 2, flow{window: 4, total: 9, sent: 4}, true, 3, 6, 2, false},
		{"within a window with repeats", 2, flow{window: 4, total: 9, sent: 4, again: 4}, true, 5, 6, 0, true},
		{"within a window after repeats", 6, flow{window: 4, total: 20, base: 4, sent: 8, again: 4}, true, 7, 10, 2, false},
		{"whole window with repeats", 4, flow{window: 4, total: 9, sent: 4, again: 4}, true, 5, 8, 0, false},
		{"of base", 4, flow{window: 4, total: 20, base: 4, sent: 8}, false, 5, 8, 4, true},
		{"of base, when the hurry is spent", 4, flow{window: 4, total: 20, base: 4, sent: 8, spent: true}, false, 5, 8, 4, false},
		{"old", 3, flow{window: 4, total: 20, base: 4, sent: 8}, false, 5, 8, 4, false},
		{"not sent yet", 9, flow{window: 4, total: 20, base: 4, sent: 8}, false, 5, 8, 4, false},
		{"over the rollover", 0, flow{window: 4, total: 1 << 20, base: 65534, sent: 65538}, true, 65537, 65540, 2, false},
		{"after the rollover", 2, flow{window: 4, total: 1 << 20, base: 65534, sent: 65538}, true, 65539, 65542, 0, false},
		{"old over the rollover", 65535, flow{window: 4, total: 1 << 20, base: 65536, sent: 65540}, false, 65537, 65540, 4, false},
		{"second rollover", 1, flow{window: 6, total: 1 << 20, base: 131070, sent: 131076}, true, 131074, 131079, 3, false},
	} {
		now := time.Unix(1e9, 0)
		f := row.f
		f.at, f.trip = now.Add(-ms), ms
		if news := f.acked(row.n, now); news != row.news {
			t.Errorf("%s: news %v", row.name, news)
		}
		if row.hurry != f.hurry.Equal(now.Add(2*ms+slack)) || !row.hurry && !f.hurry.IsZero() {
			t.Errorf("%s: hurry %s", row.name, f.hurry)
		}
		if late := f.late(); late != row.hurry || f.spent != (row.hurry || row.f.spent) {
			t.Errorf("%s: late %v, spent %v", row.name, late, f.spent)
		}
		if first, last, rep := f.due(now); first != row.first || last != row.last || rep != row.rep {
			t.Errorf("%s: %d to %d with %d repeated, want %d to %d with %d", row.name, first, last, rep, row.first, row.last, row.rep)
		}
	}
}
