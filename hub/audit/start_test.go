package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// room frees the disk.
func room(t *testing.T, ballast string) {
	t.Helper()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
}

// filled is a closed log of three segments; the newest has two entries of a caller.
func filled(t *testing.T) Config {
	t.Helper()
	cfg := testConfig(t.TempDir())
	cfg.SegmentBytes = 1200
	l := open(t, cfg)
	for range 8 {
		add(t, l, "Server/n1")
	}
	closeLog(t, l)
	return cfg
}

func paths(t *testing.T, cfg Config) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "*"+suffix))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

// What is found at the start of a file that was changed while the hub was away, in the
// newest segment and in an older one.
func TestBrokenAtStart(t *testing.T) {
	cases := []struct {
		name   string
		change func(data []byte) []byte
		newest string // operation that the new segment begins with; empty for none
		older  bool   // found by Check in an older segment
	}{
		{"nothing", func(d []byte) []byte { return d }, "", false},
		{"a byte within", func(d []byte) []byte { return bytes.Replace(d, []byte("Server/n1"), []byte("Server/n2"), 1) }, protocol.AuditOpBreak, true},
		{"the first line is gone", func(d []byte) []byte { return d[bytes.IndexByte(d, '\n')+1:] }, protocol.AuditOpBreak, true},
		{"a line in the middle is gone", func(d []byte) []byte {
			first := bytes.IndexByte(d, '\n') + 1
			return slices.Concat(d[:first], d[first+bytes.IndexByte(d[first:], '\n')+1:])
		}, protocol.AuditOpBreak, true},
		{"empty", func([]byte) []byte { return nil }, protocol.AuditOpBreak, true},
		{"no line at all", func([]byte) []byte { return bytes.Repeat([]byte("x"), protocol.MaxAuditLine*3) }, protocol.AuditOpBreak, true},
		{"a line without end", func(d []byte) []byte { return append(d, `{"at":"2026`...) }, protocol.AuditOpTorn, true},
		{"zeros at the end", func(d []byte) []byte { return append(d, make([]byte, 5000)...) }, protocol.AuditOpTorn, true},
		// An older segment without its last entry does not lead to the next one. The newest
		// without it is an older state of the log, which only a kept head or an export tells.
		{"the last line is gone", func(d []byte) []byte { return d[:bytes.LastIndexByte(d[:len(d)-1], '\n')+1] }, "", true},
	}
	for _, c := range cases {
		for _, newest := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", newest", false: ", older"}[newest], func(t *testing.T) {
				cfg := filled(t)
				files := paths(t, cfg)
				file := files[len(files)-1]
				if !newest {
					file = files[len(files)-2]
				}
				was, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				now := c.change(slices.Clone(was))
				if err := os.WriteFile(file, now, 0o600); err != nil {
					t.Fatal(err)
				}
				want := c.newest
				if !newest {
					want = map[bool]string{true: protocol.AuditOpBreak}[c.older]
				}
				for start := range 3 { // said at each start, and noted once
					cfg.Registerer = prometheus.NewRegistry()
					l := open(t, cfg)
					if err := l.Check(t.Context()); err != nil {
						t.Fatal(err)
					}
					add(t, l, "Server/after")
					if broken := l.Broken(); (want == protocol.AuditOpBreak) != (broken[filepath.Base(file)] != "") || len(broken) > 1 {
						t.Errorf("start %d: broken %v", start, broken)
					}
					closeLog(t, l)
				}
				if kept, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(kept, now) || (want != "" && newest && len(kept) != len(now)) {
					t.Errorf("the file was changed, %v", err)
				}
				noted(t, cfg, file, want, !bytes.HasPrefix(now, was))
			})
		}
	}
}

// noted wants one segment that begins with op for the file, from which on the log
// verifies; and the whole log does, unless its lines are broken.
func noted(t *testing.T, cfg Config, file, op string, broken bool) {
	t.Helper()
	l := open(t, cfg)
	var notes []protocol.AuditEntry
	for _, s := range l.has.segments {
		if s.op == protocol.AuditOpTorn || s.op == protocol.AuditOpBreak {
			list, _, err := l.Read(s.first, 1)
			if err != nil {
				t.Fatal(err)
			}
			notes = append(notes, list...)
		}
	}
	if op == "" {
		if len(notes) != 0 {
			t.Errorf("noted: %+v", notes)
		}
		verified(t, l, 0)
		return
	}
	if len(notes) != 1 || notes[0].Op != op || notes[0].Target != "AuditSegment/"+filepath.Base(file) || notes[0].Detail == "" {
		t.Fatalf("noted: %+v", notes)
	}
	if all, rep := verified(t, l, notes[0].Seq); all[0].Seq != notes[0].Seq || len(rep.Notes) != 1 {
		t.Errorf("from the note on: %+v", rep)
	}
	if broken {
		var out bytes.Buffer
		if err := l.Export(t.Context(), &out, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := auditlog.Verify(&out, l.keys, nil); !isFinding(err) {
			t.Errorf("the whole log verifies: %v", err)
		}
		return
	}
	verified(t, l, 0)
}

func isFinding(err error) bool {
	_, ok := errors.AsType[*auditlog.Finding](err)
	return ok
}

// A line that is not what was written is shown as such, in its place.
func TestReadBroken(t *testing.T) {
	cfg := filled(t)
	files := paths(t, cfg)
	was, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"target":"Server/n2"`, strings.Repeat("x", 2*protocol.MaxAuditLine)} {
		if err := os.WriteFile(files[0], bytes.Replace(was, []byte(`"target":"Server/n1"`), []byte(bad), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Registerer = prometheus.NewRegistry()
		l := open(t, cfg)
		list, next, err := l.Read(1, 3)
		if err != nil || next != 4 || len(list) != 3 || list[0].Op != protocol.AuditOpSegment || list[1].Op != OpUnreadable || list[1].Seq != 2 || list[2].Seq != 3 || list[2].Op == OpUnreadable {
			t.Errorf("%+v, %d, %v", list, next, err)
		}
	}
}

// A segment that is missing between two is found, and files that are no segments are
// left alone.
func TestCheckMissing(t *testing.T) {
	cfg := filled(t)
	files := paths(t, cfg)
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"99999999999999999999.jsonl", "1.jsonl", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(cfg.Dir, name), []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, cfg)
	if err := l.Check(t.Context()); err != nil || !strings.Contains(l.Broken()[filepath.Base(files[0])], string(auditlog.Missing)) {
		t.Errorf("%v, %v", err, l.Broken())
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "1.jsonl")); err != nil {
		t.Error(err)
	}
}

// A write that fails in the middle, or an fsync, leaves nothing: the entries before and
// after make one chain.
func TestFailingFile(t *testing.T) {
	cfg := testConfig(t.TempDir())
	l := open(t, cfg)
	add(t, l, "Server/n1")
	real := l.file
	for _, f := range []*brokenFile{{segmentFile: real, write: true}, {segmentFile: real, sync: true}, {segmentFile: real, write: true, truncate: true}, {segmentFile: real, sync: true, truncate: true}} {
		l.file = f // the writer waits for an entry, and reads it then
		for range 2 {
			if _, err := l.Append(t.Context(), asked("Server/lost")); protocol.CodeOf(err) != protocol.CodeUnavailable || !errors.Is(err, errBroken) {
				t.Errorf("%+v: %v", f, err)
			}
		}
		l.file = real
		add(t, l, "Server/n2")
	}
	all, _ := verified(t, l, 0)
	if len(all) != 6 || slices.ContainsFunc(all, func(e protocol.AuditEntry) bool { return e.Target == "Server/lost" }) {
		t.Errorf("%+v", all)
	}
}

var errBroken = errors.New("input/output error")

// brokenFile fails as it is told to; a write fails after half of it.
type brokenFile struct {
	segmentFile
	write, sync, truncate bool
}

func (f *brokenFile) Write(b []byte) (int, error) {
	if !f.write {
		return f.segmentFile.Write(b)
	}
	n, _ := f.segmentFile.Write(b[:len(b)/2])
	return n, errBroken
}

func (f *brokenFile) Sync() error {
	if f.sync {
		return errBroken
	}
	return f.segmentFile.Sync()
}

func (f *brokenFile) Truncate(size int64) error {
	if f.truncate {
		return errBroken
	}
	return f.segmentFile.Truncate(size)
}
