package jetstream

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/state"
)

// Each row is the newest messages of keys in the order of their sequences, by the day on which the clock
// said that they were written, and with ! a deletion; and the deletions that are older than day 10.
func TestAging(t *testing.T) {
	for _, c := range []struct{ name, messages, old string }{
		{"none", "1 2 20", ""},
		{"some", "1! 2 3! 11! 12", "1 3"},
		{"all", "1! 2! 3!", "1 2 3"},
		{"on the day", "10!", ""},
		{"the clock was ahead", "1! 400! 401 3 4 12!", "1 2"},
		{"the clock is ahead", "1! 400! 401!", "1"},
		{"the clock was behind", "1! 12! 0! 12!", "1 2 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := aging{before: time.Unix(0, 0).AddDate(0, 0, 10), stays: func(string) bool { return false }}
			for i, text := range strings.Fields(c.messages) {
				day, deleted := strings.CutSuffix(text, "!")
				n, err := strconv.Atoi(day)
				if err != nil {
					t.Fatal(err)
				}
				seq := uint64(i + 1)
				a.add(message{seq: seq, isEntry: true, entry: state.Entry{Key: "k", Revision: seq, Deleted: deleted}}, time.Unix(0, 0).AddDate(0, 0, n))
			}
			var got []string
			for _, g := range a.old() {
				got = append(got, strconv.FormatUint(g.Revision, 10))
			}
			if strings.Join(got, " ") != c.old {
				t.Errorf("%s: %v, want %s", c.messages, got, c.old)
			}
		})
	}
}

func FuzzParsePurged(f *testing.F) {
	for _, s := range []string{`{"floor":7,"messages":4,"keys":2,"going":[{"key":"a","revision":7,"messages":2,"whole":true}]}`, `{}`, `null`, ``, `{"floor":-1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePurged("fuzz", "KV", data)
		if s := p.settled(); err == nil && (s.Floor != p.Floor || s.Going != nil) {
			t.Errorf("%+v is settled as %+v", p, s)
		}
	})
}
