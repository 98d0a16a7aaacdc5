package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

// otherPlace keeps a head in memory, as a store on another disk.
type otherPlace struct {
	mu   sync.Mutex
	head Head
	fail error
	kept int
}

func (o *otherPlace) AuditHead(context.Context) (Head, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.head, o.fail
}

func (o *otherPlace) KeepAuditHead(_ context.Context, h Head) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return o.fail
	}
	o.head, o.kept = h, o.kept+1
	return nil
}

func (o *otherPlace) see() Head {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.head
}

// The rows of compareRule: what the head kept elsewhere says of the files.
func TestKeptHead(t *testing.T) {
	cut := func(lines int) func(t *testing.T, cfg Config) {
		return func(t *testing.T, cfg Config) {
			t.Helper()
			files := paths(t, cfg)
			file := files[len(files)-1]
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.SplitAfter(string(data), "\n")
			if err := os.WriteFile(file, []byte(strings.Join(all[:len(all)-1-lines], "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, row := range map[string]struct {
		change func(t *testing.T, cfg Config)
		kept   func(h Head) Head
		lost   string // what the note says; empty where all fits
	}{
		"nothing changed":                    {nil, nil, ""},
		"the head was kept late":             {nil, func(Head) Head { return Head{} }, ""},
		"the last line is gone":              {cut(1), nil, "is not there, at the tail"},
		"the last two lines are gone":        {cut(2), nil, "are not there, at the tail"},
		"the newest segment is gone":         {func(t *testing.T, cfg Config) { remove(t, paths(t, cfg)[2:]...) }, nil, "are not there, at the tail"},
		"all are gone":                       {func(t *testing.T, cfg Config) { remove(t, paths(t, cfg)...) }, nil, "are not there, at the tail"},
		"an older segment was archived":      {func(t *testing.T, cfg Config) { remove(t, paths(t, cfg)[0]) }, nil, ""},
		"another history of the same length": {nil, func(h Head) Head { return Head{h.Seq, strings.Repeat("0", len(h.Hash))} }, "is another than was written"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t.TempDir())
			place := &otherPlace{}
			cfg.SegmentBytes, cfg.Heads = 1200, place
			l := open(t, cfg)
			for range 8 {
				add(t, l, "Server/n1")
			}
			seq, hash := l.Head()
			closeLog(t, l)
			if got := place.see(); got.Seq <= seq || hash == "" { // a checkpoint came with Close
				t.Fatalf("kept %+v, the head was %d", got, seq)
			}
			last := place.see()
			if row.change != nil {
				row.change(t, cfg)
			}
			if row.kept != nil {
				place.head = row.kept(last)
			}
			cfg.Registerer = prometheus.NewRegistry()
			l = open(t, cfg)
			broken := l.Broken()
			first, _ := l.Head()
			list, _, err := l.Read(first, 1)
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			if row.lost == "" {
				if len(broken) != 0 || list[0].Op == protocol.AuditOpBreak {
					t.Errorf("broken %v, the last entry is %+v", broken, list[0])
				}
			} else {
				if len(broken) != 1 || list[0].Op != protocol.AuditOpBreak || !strings.Contains(list[0].Detail, row.lost) {
					t.Errorf("broken %v, the last entry is %+v; want %q", broken, list[0], row.lost)
				}
				if list[0].Seq != last.Seq+1 && list[0].Prev != "" && name != "another history of the same length" {
					t.Errorf("it goes on with %d, the number after what was kept is %d", list[0].Seq, last.Seq+1)
				}
			}
			e := add(t, l, "Server/n2")
			closeLog(t, l)
			if place.see().Seq <= e.Seq-1 {
				t.Errorf("kept %+v after entry %d", place.see(), e.Seq)
			}
			// It is said once in the log, and nothing new at the next start.
			cfg.Registerer = prometheus.NewRegistry()
			before := len(segmentsIn(t, cfg))
			l = open(t, cfg)
			if err := l.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			closeLog(t, l)
			if after := len(segmentsIn(t, cfg)); after != before {
				t.Errorf("%d segments, before %d", after, before)
			}
		})
	}
}

// A place that fails stops neither the log nor its callers; the head is kept when it can be.
// One that cannot be read when the log is opened is an error: nothing could be compared.
func TestPlaceFails(t *testing.T) {
	cfg := testConfig(t.TempDir())
	place := &otherPlace{}
	cfg.Heads = place
	l := open(t, cfg)
	place.mu.Lock()
	place.fail = errors.New("no")
	place.mu.Unlock()
	add(t, l, "Server/n1")
	add(t, l, "Server/n2")
	closeLog(t, l)
	cfg.Registerer = prometheus.NewRegistry()
	if _, err := Open(cfg); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	place.fail = nil
	l = open(t, cfg)
	if len(l.Broken()) != 0 {
		t.Errorf("%v", l.Broken())
	}
	closeLog(t, l)
}

func remove(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

func segmentsIn(t *testing.T, cfg Config) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "*"+suffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

// TestCompareTable holds compareRule to the table above it.
func TestCompareTable(t *testing.T) {
	doctable.Of(t, "kept.go", "compareRule").HoldOne(t, [][]string{{"none", "some"}, {"before it", "after it"}, {"another", "its own"}}, func(in []string) string {
		if fault := compareRule(in[0] == "some", in[1] == "before it", in[2] == "another"); fault != "" {
			return string(fault)
		}
		return "fits"
	})
}
