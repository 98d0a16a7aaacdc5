package jetstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rackboot/state"
)

// Each row is messages in the order in which they are delivered, and the changes that they make.
// A message is seq:key, in a batch with /batch.first, and with ! at its end; ~ is a check.
func TestJoiner(t *testing.T) {
	for _, c := range []struct {
		name     string
		after    uint64
		end      uint64 // of the stream, where it is asked for
		messages string
		changes  string
	}{
		{"single writes", 0, 0, "1:a 2:b", "1a|2b"},
		{"a batch", 0, 0, "1:a 2:b/x.2 3:c/x.2 4:d/x.2! 5:e", "1a|2b 3c 4d|5e"},
		{"two batches", 0, 0, "1:a/x.1 2:b/x.1! 3:a/y.3 4:b/y.3!", "1a 2b|3a 4b"},
		{"a batch that is not complete", 0, 0, "1:a/x.1 2:b/x.1", ""},
		{"checks first", 0, 0, "1:~/x.3 2:~/x.3 3:a/x.3 4:b/x.3!", "3a 4b"},
		{"a check is gone", 0, 0, "2:~/x.3 3:a/x.3 4:b/x.3!", "3a 4b"},
		{"all checks are gone", 0, 0, "3:a/x.3 4:b/x.3!", "3a 4b"},
		{"begun within a batch", 1, 0, "2:b/x.1 3:c/x.1! 4:a", "2b 3c|4a"},
		{"begun at the end of one", 2, 0, "3:c/x.1! 4:a", "3c|4a"},
		{"begun at a check", 2, 0, "3:a/x.3 4:b/x.3!", "3a 4b"},
		{"the beginning is gone", 0, 5, "2:b/x.1 3:c/x.1! 4:d 5:a 6:e", "2b 3c 4d 5a|6e"},
		{"the middle is gone", 0, 5, "1:a/x.1 3:c/x.1! 5:b 6:e", "1a 3c 5b|6e"},
		{"the end is gone", 0, 5, "1:a/x.1 2:b/x.1 4:d 5:c 6:e", "1a 2b 4d 5c|6e"},
		{"the end is gone, a batch follows", 0, 5, "1:a/x.1 4:c/y.4 5:b/y.4! 6:e", "1a 4c 5b|6e"},
		{"up to the end of a batch", 0, 4, "1:a/x.1 4:c/y.4 5:b/y.4! 6:e", "1a 4c 5b|6e"},
		{"the newest of each key", 0, 6, "1:a/x.1 4:c 5:c 6:b 7:e", "1a 5c 6b|7e"},
		{"gone twice", 0, 5, "1:a/x.1 3:c 6:d/y.5! 7:b", "1a 3c 6d|7b"},
		{"what was newest is gone too", 0, 5, "1:a/x.1 3:c 6:b 7:e", "1a 3c 6b|7e"},
		{"begun within, and more is gone", 1, 5, "3:c/x.1! 5:b 6:e", "3c 5b|6e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := joiner{last: c.after}
			var out []string
			for text := range strings.FieldsSeq(c.messages) {
				change, err := j.add(spelled(t, text), func() (uint64, error) {
					if c.end == 0 {
						t.Errorf("%s: something is taken to be gone", text)
					}
					return c.end, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				var entries []string
				for _, e := range change {
					entries = append(entries, fmt.Sprintf("%d%s", e.Revision, e.Key))
				}
				if len(entries) > 0 {
					out = append(out, strings.Join(entries, " "))
				}
			}
			if got := strings.Join(out, "|"); got != c.changes {
				t.Errorf("%s\n got %s\nwant %s", c.messages, got, c.changes)
			}
		})
	}
	j := joiner{}
	broken := errors.New("no answer")
	if _, err := j.add(spelled(t, "2:b/x.1"), func() (uint64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("without the stream's end: %v", err)
	}
}

func spelled(t *testing.T, text string) (m message) {
	t.Helper()
	text, m.commit = strings.CutSuffix(text, "!")
	text, batch, _ := strings.Cut(text, "/")
	seq, key, _ := strings.Cut(text, ":")
	if _, err := fmt.Sscan(seq, &m.seq); err != nil {
		t.Fatal(err)
	}
	if batch != "" {
		id, first, _ := strings.Cut(batch, ".")
		if _, err := fmt.Sscan(first, &m.first); err != nil {
			t.Fatal(err)
		}
		m.batch = id
	}
	m.isEntry = key != "~"
	m.entry = state.Entry{Key: key, Revision: m.seq}
	return m
}

func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{
		`{"stream":"KV","seq":12,"batch":"x","count":2}`, `{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"KV","seq":0}`,
		`{"stream":"KV","seq":12}`, `{"seq":1,"batch":"x","count":2}`, ``, `{}`, `null`, `{"error":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if seq, err := readAnswer(data, "x", 2); err == nil && seq < 2 {
			t.Errorf("a batch of 2 ends at sequence %d", seq)
		}
	})
}
