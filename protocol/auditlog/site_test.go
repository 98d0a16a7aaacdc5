package auditlog

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// sites are the logs of two hubs, a and b, of 12 entries each, written in turns: a's entry i, then b's. Entries 1, 6 and
// 11 begin segments, 4, 8 and 12 are checkpoints; each of those knows the other's entry before. c is a hub of which both
// know entry 3 from their eighth on.
func sites(t testing.TB) map[string][]protocol.AuditEntry {
	t.Helper()
	out := map[string][]protocol.AuditEntry{"a": built(t, 12, "ha"), "b": built(t, 12, "eve")}
	resign(t, out, nil)
	return out
}

// resign signs what the logs' hubs sign; change may change what they know.
func resign(t testing.TB, logs map[string][]protocol.AuditEntry, change func(hub string, seq uint64, known *Known)) {
	t.Helper()
	for hub, other := range map[string]string{"a": "b", "b": "a"} {
		for i := range logs[hub] {
			e := &logs[hub][i]
			if !protocol.AuditOwn(e.Op) {
				continue
			}
			known := Known{Hub: hub}
			before := i - 1 // a writes first
			if hub == "b" {
				before = i
			}
			if before >= 0 && len(logs[other]) > 0 {
				o := logs[other][min(before, len(logs[other])-1)]
				known.Others = append(known.Others, Head{other, o.Seq, o.Hash})
			}
			if i >= 7 {
				known.Others = append(known.Others, Head{"c", 3, "sha256:33"})
			}
			if change != nil {
				change(hub, e.Seq, &known)
			}
			if err := Sign(signer("hub"), e, known); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// part is a log in an export, with the lines around it.
func part(t testing.TB, hub string, log []protocol.AuditEntry) [][]byte {
	t.Helper()
	first, last := log[0], log[len(log)-1]
	end, err := EndLine(signer("hub"), End{Hub: hub, From: first.Seq, Prev: first.Prev, Seq: last.Seq, Hash: last.Hash, At: at()})
	if err != nil {
		t.Fatal(err)
	}
	out := [][]byte{append(HubLine(hub), '\n')}
	for _, e := range log {
		out = append(out, append(e.Line(), '\n'))
	}
	return append(out, append(end, '\n'))
}

// closed is the last line of an export of the logs.
func closed(t testing.TB, logs map[string][]protocol.AuditEntry, change func(*SiteEnd)) [][]byte {
	t.Helper()
	end := SiteEnd{By: "a", At: at()}
	for _, hub := range []string{"a", "b"} {
		if log := logs[hub]; len(log) > 0 {
			last := log[len(log)-1]
			end.Logs = append(end.Logs, SiteLog{hub, log[0].Seq, last.Seq, last.Hash, last.Seq, last.Hash})
		}
	}
	end.Logs = append(end.Logs, SiteLog{Hub: "c", KnownSeq: 3, KnownHash: "sha256:33"})
	if change != nil {
		change(&end)
	}
	line, err := SiteEndLine(signer("hub"), end)
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{append(line, '\n')}
}

func exportedSite(t testing.TB, logs map[string][]protocol.AuditEntry) [][]byte {
	t.Helper()
	return slices.Concat(part(t, "a", logs["a"]), part(t, "b", logs["b"]), closed(t, logs, nil))
}

func readExport(lines ...[][]byte) (*Export, error) {
	return ReadExport(bytes.NewReader(joined(slices.Concat(lines...))), hubKeys())
}

func TestReadExport(t *testing.T) {
	logs := sites(t)
	e, err := readExport(exportedSite(t, logs))
	if err != nil {
		t.Fatal(err)
	}
	if !e.Site || e.By != "a" || !e.ExportedAt.Equal(at()) || len(e.Logs) != 2 || e.Logs[0].Hub != "a" || e.Logs[1].Hub != "b" || e.Logs[1].Last != 12 || e.Logs[1].Checkpoints != 6 {
		t.Errorf("%+v", e)
	}
	// Five that a has signed, of its six, since its first knows nothing of b; six of b; and the ends.
	if e.Heads != 5+6+2 {
		t.Errorf("%d heads are found", e.Heads)
	}
	if len(e.Unchecked) != 1 || e.Unchecked[0].Hub != "c" || !strings.Contains(e.Unchecked[0].Why, "not in the export") || !strings.Contains(e.Unchecked[0].Why, "entry 3") {
		t.Errorf("unchecked: %+v", e.Unchecked)
	}
	one, err := readExport(exported(t, logs["a"]))
	if err != nil || one.Site || len(one.Logs) != 1 || one.Logs[0].Hub != "" || one.Logs[0].Last != 12 {
		t.Errorf("one: %+v, %v", one, err)
	}
	// A log of which older entries were taken away: what was signed of those is not checked, but for the last of them.
	short := map[string][]protocol.AuditEntry{"a": logs["a"], "b": logs["b"][5:]}
	e, err = readExport(exportedSite(t, short))
	if err != nil || e.Logs[1].First != 6 || e.Heads != 4+4+2 || len(e.Unchecked) != 2 || !strings.Contains(e.Unchecked[0].Why, "begins with entry 6") {
		t.Errorf("short: %+v, %v", e, err)
	}
	if _, err := ReadExport(io.MultiReader(bytes.NewReader(HubLine("a")), iotest.ErrReader(io.ErrUnexpectedEOF)), hubKeys()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Error(err)
	}
}

// Exports of releases that knew nothing of other hubs, and of hubs that are alone, are what they were, and what is
// signed of others is passed over by who does not know it.
func TestOlderReaders(t *testing.T) {
	log := sites(t)["a"]
	if rep, err := verify(joined(exported(t, log))); err != nil || rep.Last != 12 {
		t.Errorf("%+v, %v", rep, err)
	}
	var old struct {
		Seq  uint64 `json:"seq"`
		Hash string `json:"hash"`
	}
	if f, why := hubKeys().open(TopicCheckpoint, log[11].Signed, &old); f != "" || old.Seq != 12 || old.Hash != log[11].Hash {
		t.Errorf("%s %s %+v", f, why, old)
	}
	end, err := EndLine(signer("hub"), End{Hub: "a", Seq: 12})
	if err != nil {
		t.Fatal(err)
	}
	if f, why := hubKeys().open(TopicEnd, sealedIn(end, endBefore), &old); f != "" || old.Seq != 12 {
		t.Errorf("%s %s %+v", f, why, old)
	}
	// A hub that is alone signs what it always has.
	type before struct {
		Seq  uint64 `json:"seq"`
		Hash string `json:"hash"`
	}
	was, err := wire.Seal(signer("hub"), TopicCheckpoint, before{7, "h"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := wire.Seal(signer("hub"), TopicCheckpoint, Checkpoint{Seq: 7, Hash: "h"})
	if err != nil || !bytes.Equal(was, now) {
		t.Errorf("it signs %x, and signed %x; %v", now, was, err)
	}
	full := Known{Hub: strings.Repeat("h", 64)}
	for range MaxOthers {
		full.Others = append(full.Others, Head{full.Hub, 1 << 52, log[0].Hash})
	}
	e := log[0]
	e.Detail = strings.Repeat("\x01", protocol.MaxAuditDetail)
	e = e.Bounded()
	if err := Sign(signer("hub"), &e, full); err != nil {
		t.Fatal(err)
	}
	if n := len(e.Line()); n > protocol.MaxAuditLine {
		t.Errorf("a checkpoint that knows %d hubs has %d bytes", MaxOthers, n)
	}
}

// What an enemy does to an export of a site, without and with the hubs' key, and what is said of it.
func TestSiteFindings(t *testing.T) {
	logs := sites(t)
	with := func(hub string, log []protocol.AuditEntry) map[string][]protocol.AuditEntry {
		out := map[string][]protocol.AuditEntry{"a": logs["a"], "b": logs["b"]}
		out[hub] = log
		return out
	}
	signed := func(change func(hub string, seq uint64, known *Known)) map[string][]protocol.AuditEntry {
		out := map[string][]protocol.AuditEntry{"a": slices.Clone(logs["a"]), "b": slices.Clone(logs["b"])}
		resign(t, out, change)
		return out
	}
	a, b, end := part(t, "a", logs["a"]), part(t, "b", logs["b"]), closed(t, logs, nil)
	for _, c := range []struct {
		name  string
		lines [][]byte
		fault Fault
		hub   string
		seq   uint64
		says  string
	}{
		{"a line of b is changed", slices.Concat(a, b[:3], [][]byte{bytes.Replace(b[3], []byte("n2"), []byte("n9"), 1)}, b[4:], end), Altered, "b", 3, "hash"},
		{"a line of b is gone", slices.Concat(a, b[:3], b[4:], end), Missing, "b", 3, "not there"},
		{"b's tail is gone", slices.Concat(a, b[:9], b[13:], end), Cut, "b", 9, "at the tail"},
		{"b's tail is gone, and was never exported", exportedSite(t, with("b", logs["b"][:8])), Cut, "b", 9, "hub a signed in its entry 11 entry 10"},
		{"so, and nobody but the store knew", slices.Concat(part(t, "a", logs["a"][:8]), part(t, "b", logs["b"][:8]), closed(t, map[string][]protocol.AuditEntry{"a": logs["a"][:8], "b": logs["b"][:8]}, func(e *SiteEnd) {
			e.Logs[1].KnownSeq, e.Logs[1].KnownHash = 9, logs["b"][8].Hash
		})), Cut, "b", 9, "the hubs' store knew entry 9"},
		{"b's log was written anew", exportedSite(t, with("b", func() []protocol.AuditEntry {
			log := slices.Clone(logs["b"])
			log[2].Target = "Server/n9"
			return resigned(t, log)
		}())), Forked, "b", 3, "hub a signed in its entry 4 entry 3"},
		{"b's log was written anew, from where it begins now", exportedSite(t, with("b", func() []protocol.AuditEntry {
			log := slices.Clone(logs["b"][5:])
			log[0].Prev = "sha256:00"
			return resigned(t, log)
		}())), Forked, "b", 6, "it follows another entry"},
		{"b's log is gone", slices.Concat(a, end), Missing, "b", 1, "entries 1 to 12"},
		{"b's log is gone, and the end with it", a, Cut, "", 0, "after 1 logs"},
		{"the logs' names are swapped", slices.Concat([][]byte{b[0]}, a[1:], [][]byte{a[0]}, b[1:], end), Altered, "b", 0, `exported as that of hub "a"`},
		{"the logs are swapped where they are kept", slices.Concat(part(t, "a", logs["b"]), part(t, "b", logs["a"]), end), Altered, "a", 12, `hub "b" signed it`},
		{"a run of a stands in b", slices.Concat(a, b[:5], a[5:6], b[6:], end), Altered, "b", 5, "does not follow"},
		{"a's log is there twice", slices.Concat(a, b, a, end), Inserted, "a", 0, "a second log"},
		{"two wrote under one name", slices.Concat(a, b, part(t, "b", resigned(t, built(t, 12, "eve2"))), end), Inserted, "b", 0, "a second log"},
		{"a shorter log of an older export", slices.Concat(a, part(t, "b", logs["b"][:8]), end), Altered, "b", 8, "of another export"},
		{"a log that was not exported", slices.Concat(a, b, part(t, "d", built(t, 5, "x")), end), Inserted, "d", 0, "no such log"},
		{"a log of which the hub had nothing", slices.Concat(a, b, part(t, "c", built(t, 5, "x")), end), Inserted, "c", 0, "nothing of this log"},
		{"a line between the logs", slices.Concat(a, [][]byte{[]byte("{}\n")}, b, end), Altered, "", 0, "begins no hub's log"},
		{"something follows", slices.Concat(a, b, end, end), Inserted, "", 0, "follows the end"},
		{"nothing", end[:0], Cut, "", 0, "without the end"},
		{"an empty end", end, Missing, "a", 1, "entries 1 to 12"},
		{"the end is that of a log", slices.Concat(a, b, b[13:]), Altered, "", 0, "begins no hub's log"},
		{"a head goes back", exportedSite(t, signed(func(hub string, seq uint64, known *Known) {
			if hub == "a" && seq == 12 {
				known.Others[0] = Head{"b", 6, logs["b"][5].Hash}
			}
		})), Forked, "a", 12, "an earlier one said entry 10"},
		{"a head has two hashes", exportedSite(t, signed(func(hub string, seq uint64, known *Known) {
			if hub == "a" && seq == 12 {
				known.Others[1].Hash = "sha256:44"
			}
		})), Forked, "a", 12, "log of hub c"},
		{"a checkpoint of another hub within a segment", exportedSite(t, signed(func(hub string, seq uint64, known *Known) {
			if hub == "b" && seq == 8 {
				known.Hub = "a"
			}
		})), Altered, "b", 8, `hub "a" signed it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readExport(c.lines)
			if len(c.lines) == 0 {
				_, err = readSite(bytes.NewReader(nil), hubKeys())
			}
			f, ok := errors.AsType[*Finding](err)
			if !ok || f.Fault != c.fault || f.Hub != c.hub || f.Seq != c.seq || !strings.Contains(f.Error(), c.says) {
				t.Errorf("%v, want %s of hub %q, entry %d", err, c.fault, c.hub, c.seq)
			}
		})
	}
	other, err := SiteEndLine(signer("eve"), SiteEnd{By: "a", At: at()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readExport(a, b, [][]byte{append(other, '\n')})
	if f, ok := errors.AsType[*Finding](err); !ok || f.Code() != protocol.CodeDenied {
		t.Errorf("another's end: %v", err)
	}
}

// A hub that was given another name goes on with its log, in another segment.
func TestRenamed(t *testing.T) {
	logs := map[string][]protocol.AuditEntry{"a": built(t, 12, "ha")}
	resign(t, logs, func(_ string, seq uint64, known *Known) {
		known.Others = nil
		if seq < 11 {
			known.Hub = "before"
		}
	})
	if e, err := readExport(part(t, "a", logs["a"]), closed(t, logs, nil)); err != nil || e.Logs[0].Last != 12 {
		t.Error(err)
	}
}

// The rows: which log of an older export a log is held to.
func TestExportFollows(t *testing.T) {
	logs := sites(t)
	shorter := map[string][]protocol.AuditEntry{"a": logs["a"][:6], "b": logs["b"][:5]}
	read := func(lines [][]byte) *Export {
		t.Helper()
		e, err := readExport(lines)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	named := func(hub string, log []protocol.AuditEntry) [][]byte { // of one hub's log
		lines := part(t, hub, log)
		return lines[1:]
	}
	now, old := read(exportedSite(t, logs)), read(exportedSite(t, shorter))
	onlyA := read(slices.Concat(part(t, "a", logs["a"][:1]), closed(t, map[string][]protocol.AuditEntry{"a": logs["a"][:1]}, nil)))
	for _, c := range []struct {
		name     string
		now, old *Export
		fault    Fault
		hub      string
	}{
		{"gone on", now, old, "", ""},
		{"the same", now, now, "", ""},
		{"put back", old, now, Cut, "a"},
		{"a hub came", now, onlyA, "", ""},
		{"a hub's log went", onlyA, read(slices.Concat(part(t, "a", logs["a"][:1]), part(t, "b", logs["b"][:1]), closed(t, map[string][]protocol.AuditEntry{"a": logs["a"][:1], "b": logs["b"][:1]}, nil))), Missing, "b"},
		{"one hub's, against all", read(named("b", logs["b"])), old, "", ""},
		{"one hub's, cut", read(named("b", logs["b"][:4])), old, Cut, "b"},
		{"another hub's", read(named("b", logs["b"])), read(named("a", logs["a"])), Missing, "b"},
		{"all, against one of an older release", now, read(exported(t, logs["b"][:5])), "", ""},
		{"all, against a strange one", now, read(exported(t, built(t, 5, "x"))), Forked, "a"},
	} {
		f := c.now.Follows(c.old)
		if (f == nil) != (c.fault == "") || f != nil && (f.Fault != c.fault || f.Hub != c.hub) {
			t.Errorf("%s: %v, want %s of hub %q", c.name, f, c.fault, c.hub)
		}
	}
}

// No line and no bytes of an export of a site can be changed unseen, even by one who computes the hashes anew.
func TestSiteTampering(t *testing.T) {
	lines := exportedSite(t, sites(t))
	original := joined(lines)
	keys := hubKeys()
	rapid.Check(t, func(t *rapid.T) {
		lines := slices.Clone(lines)
		at := func(label string) int { return rapid.IntRange(0, len(lines)-1).Draw(t, label) }
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			switch rapid.SampledFrom([]string{"bytes", "remove", "copy", "move", "run", "rehash"}).Draw(t, "what") {
			case "bytes":
				i := at("line")
				j := rapid.IntRange(0, len(lines[i])-1).Draw(t, "at")
				lines[i] = slices.Concat(lines[i][:j], rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "bytes"), lines[i][j+1:])
			case "remove":
				i := at("line")
				lines = slices.Delete(lines, i, i+1)
			case "copy":
				lines = slices.Insert(lines, at("to"), lines[at("from")])
			case "move":
				i, j := at("a"), at("b")
				lines[i], lines[j] = lines[j], lines[i]
			case "run":
				i, j := at("from"), at("to")
				lines = slices.Delete(lines, min(i, j), max(i, j))
			case "rehash":
				lines = rehash(lines)
			}
			if len(lines) == 0 || len(lines[0]) == 0 {
				return
			}
		}
		if bytes.Equal(joined(lines), original) {
			return // it was put back
		}
		if _, err := ReadExport(bytes.NewReader(joined(lines)), keys); err == nil {
			t.Fatalf("unseen:\n%s", joined(lines))
		}
	})
}

// Whatever a file holds is judged without a panic, and of a site only what the hubs wrote passes.
func FuzzReadExport(f *testing.F) {
	good := joined(exportedSite(f, sites(f)))
	one := joined(exported(f, built(f, 6, "ha")))
	f.Add(good)
	f.Add(one)
	f.Add(joined(closed(f, nil, nil)))
	f.Add(append(HubLine("a"), '\n'))
	f.Add([]byte("{\"site\":\"0oRQ\"}\n"))
	passes := [][]byte{good, one, joined(closed(f, nil, nil))}
	keys := hubKeys()
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadExport(bytes.NewReader(data), keys)
		if err != nil {
			if _, ok := errors.AsType[*Finding](err); !ok {
				t.Errorf("no finding: %v", err)
			}
			return
		}
		if !slices.ContainsFunc(passes, func(p []byte) bool { return bytes.Equal(p, data) }) {
			t.Errorf("passes as %+v", e)
		}
	})
}
