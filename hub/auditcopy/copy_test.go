package auditcopy

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/audit"
	"rackboot/hub/auditcopy/copytest"
	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/state"
)

// The rows of compare.
func TestCompare(t *testing.T) {
	end := auditlog.Head{Hub: "a", Seq: 7, Hash: "h7"}
	for _, c := range []struct {
		name string
		end  auditlog.Head
		next protocol.AuditEntry
		want auditlog.Fault
		gone uint64
	}{
		{"nothing is there", auditlog.Head{}, protocol.AuditEntry{Seq: 9}, "", 0},
		{"the files are shorter", end, protocol.AuditEntry{}, auditlog.Cut, 0},
		{"another entry", end, protocol.AuditEntry{Seq: 7, Hash: "x"}, auditlog.Forked, 0},
		{"unreadable", end, protocol.AuditEntry{Seq: 7}, auditlog.Forked, 0},
		{"the entry", end, protocol.AuditEntry{Seq: 7, Hash: "h7", Prev: "h6"}, "", 0},
		{"another before", end, protocol.AuditEntry{Seq: 8, Hash: "h8", Prev: "x"}, auditlog.Forked, 0},
		{"the next one", end, protocol.AuditEntry{Seq: 8, Hash: "h8", Prev: "h7"}, "", 0},
		{"a later one", end, protocol.AuditEntry{Seq: 10, Hash: "h10", Prev: "h9"}, "", 2},
	} {
		wrong, gone := compare(c.end, c.next)
		if fault := faultOf(wrong); fault != c.want || gone != c.gone || wrong != nil && wrong.Hub != "a" {
			t.Errorf("%s: %v, %d gone", c.name, wrong, gone)
		}
	}
}

func faultOf(f *auditlog.Finding) auditlog.Fault {
	if f == nil {
		return ""
	}
	return f.Fault
}

// A record begins with a segment, is bounded, and has no line that cannot be read, nor what follows that up to a segment.
func TestPack(t *testing.T) {
	entry := func(seq uint64, op string) protocol.AuditEntry {
		e := protocol.AuditEntry{Seq: seq, Op: op, Outcome: protocol.AuditAsked, Prev: "p"}
		e.Hash = e.Sum()
		return e
	}
	bad := protocol.AuditEntry{Seq: 3, Op: audit.OpUnreadable}
	long := func(seq uint64) protocol.AuditEntry {
		e := entry(seq, "x")
		e.Detail = strings.Repeat("x", maxRecord/2-1000)
		e.Hash = e.Sum()
		return e
	}
	var many []protocol.AuditEntry
	for i := range uint64(maxRun + 1) {
		many = append(many, entry(i+1, "x"))
	}
	seg := protocol.AuditOpSegment
	for _, c := range []struct {
		name       string
		entries    []protocol.AuditEntry
		skipping   bool
		has        int
		last, next uint64
		skipped    int
	}{
		{"some", []protocol.AuditEntry{entry(1, seg), entry(2, "x")}, false, 2, 2, 3, 0},
		{"a segment begins", []protocol.AuditEntry{entry(1, "x"), entry(2, seg)}, false, 1, 1, 2, 0},
		{"too long", []protocol.AuditEntry{long(1), long(2), long(3)}, false, 2, 2, 3, 0},
		{"many", many, false, maxRun, maxRun, maxRun + 1, 0},
		{"a gap", []protocol.AuditEntry{entry(1, "x"), entry(3, "x")}, false, 1, 1, 2, 0},
		{"before an unreadable one", []protocol.AuditEntry{entry(2, "x"), bad}, false, 1, 2, 3, 0},
		{"an unreadable one", []protocol.AuditEntry{bad, entry(4, "x"), entry(5, seg)}, false, 1, 5, 6, 2},
		{"after an unreadable one", []protocol.AuditEntry{entry(4, "x")}, true, 0, 0, 5, 1},
		{"nothing", nil, true, 0, 0, 0, 0},
	} {
		r := pack(c.entries, c.skipping)
		if r.entries != c.has || r.last.Seq != c.last || r.next != c.next || r.skipped != c.skipped {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r.entries == 0 {
			continue
		}
		if list, err := unpack(r.data); err != nil || len(list) != c.has || list[c.has-1].Hash != r.last.Hash {
			t.Errorf("%s: unpacked %d, %v", c.name, len(list), err)
		}
	}
}

// Whatever a record holds is read without a panic, and only lines of a log pass.
func FuzzUnpack(f *testing.F) {
	e := protocol.AuditEntry{Seq: 1, Op: "x", Outcome: protocol.AuditAsked}
	e.Hash = e.Sum()
	f.Add(append(e.Line(), '\n'))
	f.Add([]byte("{}\n"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := unpack(data)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Error(err)
			}
			return
		}
		var again []byte
		for _, e := range list {
			again = append(append(again, e.Line()...), '\n')
		}
		if !bytes.Equal(again, data) {
			t.Errorf("%q is read as %q", data, again)
		}
	})
}

// What is in the files is in the stream, line by line, also what is written as the hub stops, and after a restart it
// goes on where it was.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.hub("a")
	a.add(40)
	a.isCopied()
	a.end()
	dir := a.dir
	b := s.hubIn("a", dir)
	b.add(3)
	b.isCopied()
	b.end()
	var files, stream bytes.Buffer
	list, err := filepath.Glob(filepath.Join(dir, "audit", "*.jsonl"))
	if err != nil || len(list) < 4 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files.Write(data)
	}
	for _, r := range s.on.Of("a") {
		stream.Write(r.Data)
	}
	if files.String() != stream.String() {
		t.Errorf("the stream has\n%s\nthe files have\n%s", stream.String(), files.String())
	}
	if entries, seconds, differ := b.state(); entries != 0 || seconds != 0 || differ != 0 {
		t.Errorf("%v entries behind for %v, differs %v", entries, seconds, differ)
	}
}

// What was stored and not answered is not stored again.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.hub("a")
	lost := 2
	s.on.Fail(func(call string) error {
		if call == "append" && lost > 0 {
			lost--
			return copytest.ErrLost
		}
		return nil
	})
	a.add(5)
	a.isCopied()
	a.add(5)
	a.isCopied()
	var seqs []uint64
	for _, r := range s.on.Of("a") {
		entries, err := unpack(r.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			seqs = append(seqs, e.Seq)
		}
	}
	for i, seq := range seqs {
		if seq != uint64(i+1) {
			t.Fatalf("the stream has entries %v", seqs)
		}
	}
	if lost != 0 || testutil.ToFloat64(a.metrics.conflicts) == 0 {
		t.Error("no answer was lost")
	}
}

// A copy that cannot be written is behind, says so, and goes on when it can. The head in the store does not wait for ever.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.on.Fail(func(string) error { return protocol.Errorf(protocol.CodeUnavailable, "call", "away") })
	a := New(Config{Hub: "a", Open: func(context.Context) (Journal, error) { return s.on, s.on.Call("open") }, Clock: s.clock})
	if _, err := a.End(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("it knows an end: %v", err)
	}
	s.on.Fail(nil)
	m := s.hub("a")
	m.add(3)
	m.isCopied()
	s.on.Fail(func(call string) error {
		if call == "append" {
			return protocol.Errorf(protocol.CodeUnavailable, "append", "full")
		}
		return nil
	})
	m.add(7)
	s.until("it is behind", func() bool {
		entries, seconds, differ := m.state()
		return entries >= 7 && seconds > 0 && differ == 0 && testutil.ToFloat64(m.metrics.failures) > 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.await(ctx, 9); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if err := m.Follow(ctx, 9); err != nil { // it returns
		t.Error(err)
	}
	s.on.Fail(nil)
	m.isCopied()
	s.until("nothing waits", func() bool { entries, seconds, _ := m.state(); return entries == 0 && seconds == 0 })
}

// Another program under one name, and a stream that was changed: nothing is written over, and it is said.
func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(s *site, a *member)
		fault auditlog.Fault
	}{
		{"another program", func(s *site, a *member) {
			other := newSite(t)
			b := other.hub("a")
			b.add(60)
			b.isCopied()
			for _, r := range other.on.Of("a") {
				s.on.Put("a", r.Data)
			}
		}, auditlog.Cut},
		{"another entry", func(s *site, _ *member) {
			records := s.on.Of("a")
			entries, err := unpack(records[len(records)-1].Data)
			if err != nil {
				t.Error(err)
				return
			}
			e := entries[len(entries)-1]
			e.Target, e.Signed = "Server/n9", nil
			e.Hash = e.Sum()
			s.on.Put("a", append(e.Line(), '\n'))
		}, auditlog.Forked},
		{"nonsense", func(s *site, _ *member) {
			s.on.Put("a", []byte("{}\n"))
		}, auditlog.Altered},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			a := s.hub("a")
			a.add(3)
			a.isCopied()
			c.spoil(s, a)
			newest, _ := s.on.Newest(t.Context())
			a.add(3)
			s.until("it is noticed", func() bool { return a.Wrong() != nil })
			if wrong := a.Wrong(); wrong.Fault != c.fault {
				t.Errorf("%v, want %s", wrong, c.fault)
			}
			if now, _ := s.on.Newest(t.Context()); now != newest {
				t.Errorf("%d records were written after it", now-newest)
			}
			if _, _, differ := a.state(); differ != 1 {
				t.Error("the metric does not say so")
			}
			seq, _ := a.log.Head()
			if err := a.await(t.Context(), seq); protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Errorf("who waits for it is told %v", err)
			}
			if _, err := a.Export(t.Context()); !errors.As(err, new(*protocol.Error)) {
				t.Errorf("an export: %v", err)
			}
		})
	}
}

// A hub whose disk is gone goes on after what the stream has, though the store knows less.
func TestAfterALostDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.hub("a")
	a.add(6)
	a.isCopied()
	seq, hash := a.log.Head()
	a.end()
	s.mu.Lock()
	delete(s.heads, "a")
	s.mu.Unlock()
	closed, _ := a.log.Head()
	b := s.hub("a")
	b.add(1)
	b.isCopied()
	if wrong := b.Wrong(); wrong != nil {
		t.Errorf("it differs: %v", wrong)
	}
	var out bytes.Buffer
	if err := b.export(&out); err != nil {
		t.Fatal(err)
	}
	e, err := auditlog.ReadExport(&out, keys())
	if err != nil || len(e.Logs) != 1 || e.Logs[0].First != 1 || e.Logs[0].Last <= closed || len(e.Logs[0].Notes) != 1 || e.Logs[0].Notes[0].Seq != closed+1 {
		t.Errorf("%+v, %v; the log ended with %d, and after the entry %d %s", e, err, closed, seq, hash)
	}
}

// A hub that was given another name has its log under both, and the export verifies.
func TestRenamed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.hub("a")
	a.add(6)
	a.end()
	b := s.hubIn("b", a.dir)
	b.add(6)
	b.isCopied()
	var out bytes.Buffer
	if err := b.export(&out); err != nil {
		t.Fatal(err)
	}
	e, err := auditlog.ReadExport(&out, keys())
	if err != nil || len(e.Logs) != 2 || e.Logs[1].Hub != "b" || e.Logs[1].First != 1 || e.Logs[1].Last <= e.Logs[0].Last || len(e.Unchecked) != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// Where all of a hub was purged, its files are copied again; where the oldest records were, it goes on.
func TestPurged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.hub("a")
	a.add(30)
	a.isCopied()
	first := s.on.Of("a")[0].Seq
	s.on.Remove(func(r state.Record) bool { return r.Seq == first })
	a.add(1)
	a.isCopied()
	if list := s.on.Of("a"); list[0].Seq == first || testutil.ToFloat64(a.metrics.conflicts) != 0 {
		t.Error("the oldest was copied again")
	}
	s.on.Remove(func(state.Record) bool { return true })
	a.add(1)
	seq, _ := a.log.Head()
	s.until("it is copied again", func() bool {
		list := s.on.Of("a")
		if len(list) == 0 {
			return false
		}
		begin, err := unpack(list[0].Data)
		end, err2 := endOf("a", list[len(list)-1].Data)
		return err == nil && err2 == nil && begin[0].Seq == 1 && end.Seq >= seq
	})
	if wrong := a.Wrong(); wrong != nil {
		t.Error(wrong)
	}
}

// What is signed of others never goes back, and leaves out the hub itself.
func TestMerge(t *testing.T) {
	h := func(hub string, seq uint64) auditlog.Head { return auditlog.Head{Hub: hub, Seq: seq, Hash: hub} }
	got := merge([]auditlog.Head{h("b", 7), h("d", 2)}, []auditlog.Head{h("c", 1), h("b", 5), h("d", 3), h("a", 9), h("e", 0)}, "a")
	want := []auditlog.Head{h("b", 7), h("c", 1), h("d", 3)}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v", got)
	}
	long := auditlog.Head{Hub: "l", Seq: 1, Hash: strings.Repeat("x", maxHash+1)}
	if got := merge(nil, []auditlog.Head{long, h(strings.Repeat("x", maxHub+1), 1)}, "a"); len(got) != 0 {
		t.Errorf("what is too long: %v", got)
	}
	var many []auditlog.Head
	for i := range 2 * auditlog.MaxOthers {
		many = append(many, h(strings.Repeat("x", i+1), 1))
	}
	if n := len(merge(nil, many, "a")); n != auditlog.MaxOthers {
		t.Errorf("%d heads", n)
	}
}
