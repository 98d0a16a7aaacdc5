package auditcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/auditcopy/copytest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
	"rackboot/state"
)

// three is a site of hubs a, b and c, of which c has died: its disk is gone, and the store knows its end.
func three(t *testing.T) (s *site, a, b *member) {
	t.Helper()
	s = newSite(t)
	a, b = s.hub("a"), s.hub("b")
	c := s.hub("c")
	for range 10 {
		a.add(2)
		b.add(1)
		c.add(1)
	}
	c.isCopied()
	c.end()
	a.knows(c)
	b.knows(a)
	a.isCopied()
	b.isCopied()
	return s, a, b
}

func every(protocol.AuditEntry) bool { return true }

// listed reads a list in pages.
func listed(t *testing.T, r *Room, q api.AuditQuery, fits func(protocol.AuditEntry) bool) (out []string) {
	t.Helper()
	for range 10_000 {
		list, err := r.List(t.Context(), q, fits)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > q.Limit {
			t.Fatalf("%d of at most %d", len(list.Items), q.Limit)
		}
		for _, e := range list.Items {
			out = append(out, fmt.Sprintf("%s %s %d", e.At.Format(time.TimeOnly), e.Hub, e.Seq))
		}
		if q.Continue = list.Continue; q.Continue == "" {
			return out
		}
	}
	t.Fatal("the list does not end")
	return nil
}

// The entries of all hubs come in the order of their times, whichever hub is asked and in whichever pages.
func TestList(t *testing.T) {
	t.Parallel()
	_, a, b := three(t)
	all := listed(t, a.Room, api.AuditQuery{Limit: 1000}, every)
	if !slices.IsSorted(all) { // each entry has a time of its own
		t.Errorf("not in order:\n%s", strings.Join(all, "\n"))
	}
	count := map[string]int{}
	for _, line := range all {
		count[strings.Fields(line)[1]]++
	}
	if len(count) != 3 || count["c"] < 11 {
		t.Errorf("%v", count)
	}
	for _, limit := range []int{1, 7, 1000} {
		for _, r := range []*Room{a.Room, b.Room} {
			if got := listed(t, r, api.AuditQuery{Limit: limit}, every); !slices.Equal(got, all) {
				t.Errorf("in pages of %d: %d entries, want %d", limit, len(got), len(all))
			}
		}
	}
	tail := all[len(all)-20:]
	since, err := time.Parse(time.TimeOnly, strings.Fields(tail[0])[0])
	if err != nil {
		t.Fatal(err)
	}
	since = time.Date(2026, 11, 28, since.Hour(), since.Minute(), since.Second(), 0, time.UTC)
	if got := listed(t, a.Room, api.AuditQuery{Limit: 5, Since: since}, func(e protocol.AuditEntry) bool { return !e.At.Before(since) }); !slices.Equal(got, tail) {
		t.Errorf("since %s: %v, want %v", since, got, tail)
	}
	var ofC []string
	for _, line := range all {
		if strings.Contains(line, " c ") {
			ofC = append(ofC, line)
		}
	}
	for _, hub := range []*Room{a.Room, b.Room} {
		if got := listed(t, hub, api.AuditQuery{Limit: 4, Hub: "c"}, every); !slices.Equal(got, ofC) {
			t.Errorf("of c: %v, want %v", got, ofC)
		}
		if got := listed(t, hub, api.AuditQuery{Limit: 4, Hub: "c", From: 5}, every); !slices.Equal(got, ofC[4:]) {
			t.Errorf("of c from 5: %v, want %v", got, ofC[4:])
		}
	}
	for name, q := range map[string]api.AuditQuery{"a strange hub": {Hub: "d"}, "a strange place": {Continue: "e30"}, "a long place": {Continue: placesOf(make([]*source, 0))}} {
		_, err := a.List(t.Context(), q, every)
		if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeNotFound || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list looks at a bounded number of entries, and at the end of a log asks for no more of it.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	s, a, _ := three(t)
	before := s.on.Reads()
	if list, err := a.List(t.Context(), api.AuditQuery{Limit: 1000}, func(protocol.AuditEntry) bool { return false }); err != nil || len(list.Items) != 0 || list.Continue != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if n := s.on.Reads() - before; n > 8 {
		t.Errorf("the stream was read %d times", n)
	}
}

// Where a list goes on comes from outside.
func FuzzPlaces(f *testing.F) {
	f.Add(placesOf([]*source{{hub: "a", next: 7, at: 3}, {hub: "b"}}))
	f.Add("")
	f.Add("W10")
	f.Fuzz(func(t *testing.T, text string) {
		places, err := parsePlaces(text)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Error(err)
			}
			return
		}
		var sources []*source
		for _, p := range places {
			sources = append(sources, &source{hub: p.Hub, next: p.Next, at: p.At})
		}
		again, err := parsePlaces(placesOf(sources))
		if err != nil || !slices.Equal(again, places) {
			t.Errorf("%v is read again as %v, %v", places, again, err)
		}
	})
}

// An export from any hub has all logs, also that of the dead one, and verifies.
func TestExport(t *testing.T) {
	t.Parallel()
	s, a, b := three(t)
	for _, by := range []*member{a, b} {
		var out bytes.Buffer
		if err := by.export(&out); err != nil {
			t.Fatal(err)
		}
		e, err := auditlog.ReadExport(&out, keys())
		if err != nil || len(e.Logs) != 3 || e.By != by.name || len(e.Unchecked) != 0 || e.Heads < 5 {
			t.Fatalf("by %s: %+v, %v", by.name, e, err)
		}
		for i, m := range []*member{a, b} {
			if seq, hash := m.log.Head(); e.Logs[i].Last != seq || e.Logs[i].Hash != hash {
				t.Errorf("by %s: %s ends with %d, and its log with %d", by.name, m.name, e.Logs[i].Last, seq)
			}
		}
	}
	// One hub's: of the files, and of the stream from a segment on.
	for _, c := range []struct {
		hub  string
		from uint64
	}{{"a", 0}, {"a", 30}, {"c", 0}, {"c", 11}} {
		do, err := a.ExportOf(t.Context(), c.hub, c.from)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := do(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		rep, err := auditlog.Verify(&out, keys(), nil)
		if err != nil || rep.Hub != c.hub || c.from == 0 && rep.First != 1 || c.from > 0 && (rep.First > c.from || rep.First == 1) {
			t.Errorf("%+v: %+v, %v", c, rep, err)
		}
	}
	for name, c := range map[string]struct {
		hub  string
		from uint64
		code protocol.Code
	}{"a strange hub": {"d", 0, protocol.CodeNotFound}, "beyond its end": {"c", 999, protocol.CodeInvalid}, "beyond its own": {"a", 999, protocol.CodeInvalid}} {
		if _, err := a.ExportOf(t.Context(), c.hub, c.from); protocol.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.end()
	// The operator has purged the oldest records, of c in the middle of a segment, and all of b.
	second := s.on.Of("c")[1].Seq
	s.on.Remove(func(r state.Record) bool { return r.Subject == "b" || r.Subject == "c" && r.Seq < second })
	var out bytes.Buffer
	if err := a.export(&out); err != nil {
		t.Fatal(err)
	}
	e, err := auditlog.ReadExport(&out, keys())
	if err != nil || len(e.Logs) != 2 || e.Logs[1].First == 1 || len(e.Unchecked) == 0 || e.Unchecked[0].Hub != "b" {
		t.Errorf("after a purge: %+v, %v", e, err)
	}
}

// What is cut off the stream later, and an end that the store knows and the stream has not, is found.
func TestExportFindsWhatIsCut(t *testing.T) {
	t.Parallel()
	s, a, _ := three(t)
	list := s.on.Of("c")
	s.on.Remove(func(r state.Record) bool { return r.Seq == list[len(list)-1].Seq })
	var out bytes.Buffer
	if err := a.export(&out); err != nil {
		t.Fatal(err)
	}
	_, err := auditlog.ReadExport(&out, keys())
	if f, ok := errors.AsType[*auditlog.Finding](err); !ok || f.Fault != auditlog.Cut || f.Hub != "c" {
		t.Errorf("%v", err)
	}
}

// Where the stream fails for a while an export goes on. Where it does not come back, and where a copy of it lags behind, the
// export ends with an error and does not verify.
func TestExportDuringAFault(t *testing.T) {
	t.Parallel()
	s, a, _ := three(t)
	away := protocol.Errorf(protocol.CodeUnavailable, "read", "no leader")
	fails := 2
	s.on.Fail(func(call string) error {
		if call == "read" && fails > 0 {
			fails--
			return []error{away, copytest.ErrLags}[fails]
		}
		return nil
	})
	var out bytes.Buffer
	if err := a.export(&out); err != nil {
		t.Fatal(err)
	}
	if _, err := auditlog.ReadExport(&out, keys()); err != nil {
		t.Error(err)
	}
	reads := 0
	s.on.Fail(func(call string) error {
		if reads++; call == "read" && reads > 6 {
			return copytest.ErrLags
		}
		return nil
	})
	do, err := a.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	out.Reset()
	if err := do(ctx, &out); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
	if _, err := auditlog.ReadExport(&out, keys()); err == nil {
		t.Error("a truncated export verifies")
	}
	s.on.Fail(nil)
	do, err = a.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := do(t.Context(), failing{}); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a writer that fails: %v", err)
	}
	s.on.Fail(func(string) error { return away })
	if _, err := a.Export(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("the stream is away: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
