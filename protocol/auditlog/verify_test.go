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
)

func TestVerify(t *testing.T) {
	log := built(t, 12, "ha")
	rep, err := verify(joined(exported(t, log)))
	if err != nil || rep.First != 1 || rep.Last != 12 || rep.Hash != log[11].Hash || rep.Checkpoints != 6 || !rep.ExportedAt.Equal(at()) {
		t.Errorf("%+v, %v", rep, err)
	}
	// From a later segment on, as after older ones were taken away.
	rep, err = verify(joined(exported(t, log[5:])))
	if err != nil || rep.First != 6 || rep.Last != 12 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := Verify(iotest.ErrReader(io.ErrUnexpectedEOF), hubKeys(), nil); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Error(err)
	}
	stop := errors.New("stop")
	if _, err := Verify(bytes.NewReader(joined(exported(t, log))), hubKeys(), func(protocol.AuditEntry) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// What is done to an export, and what is said of it. Entries are numbered from 1; 1, 6
// and 11 begin a segment, 4, 8 and 12 are checkpoints; line 13 is the end.
func TestFindings(t *testing.T) {
	log := built(t, 12, "ha")
	forged := func(i int, change func(*protocol.AuditEntry)) [][]byte {
		own := slices.Clone(log)
		change(&own[i])
		lines := exported(t, log)
		for i, e := range rehashed(own) {
			lines[i] = append(e.Line(), '\n')
		}
		return lines
	}
	swap := func(lines [][]byte, i, j int) [][]byte {
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	}
	another := built(t, 12, "eve")
	for _, c := range []struct {
		name  string
		lines func(lines [][]byte) [][]byte
		fault Fault
		line  int
		seq   uint64
	}{
		{"a target is changed", func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte("n2"), []byte("n9"), 1)
			return l
		}, Altered, 3, 3},
		{"a line is no JSON", func(l [][]byte) [][]byte { l[2] = []byte("x\n"); return l }, Altered, 3, 3},
		{"a line is empty", func(l [][]byte) [][]byte { l[2] = []byte("\n"); return l }, Altered, 3, 3},
		{"a line is too long", func(l [][]byte) [][]byte {
			l[2] = append(bytes.Repeat([]byte("x"), 3*protocol.MaxAuditLine), '\n')
			return l
		}, Altered, 3, 0},
		{"a target and all hashes after it are changed", func([][]byte) [][]byte {
			return forged(2, func(e *protocol.AuditEntry) { e.Target = "Server/n9" })
		}, Altered, 4, 4},
		{"so in the last entries before the end", func([][]byte) [][]byte {
			return forged(11, func(e *protocol.AuditEntry) { e.Op, e.Signed = "hold", nil })
		}, Altered, 13, 12},
		{"one entry has another hash, and says so", func(l [][]byte) [][]byte {
			e := log[2]
			e.Target = "Server/n9"
			e.Hash = e.Sum()
			l[2] = append(e.Line(), '\n')
			return l
		}, Altered, 4, 4},
		{"a line is gone", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }, Missing, 3, 3},
		{"three lines are gone", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 5) }, Missing, 3, 3},
		{"a checkpoint is gone", func(l [][]byte) [][]byte { return slices.Delete(l, 3, 4) }, Missing, 4, 4},
		{"a checkpoint is not signed any more", func(l [][]byte) [][]byte {
			e := log[3]
			e.Signed = nil
			l[3] = append(e.Line(), '\n')
			return l
		}, Altered, 4, 4},
		{"an entry is signed by copying", func(l [][]byte) [][]byte {
			e := log[2]
			e.Signed = log[3].Signed
			l[2] = append(e.Line(), '\n')
			return l
		}, Altered, 3, 3},
		{"a checkpoint has the signature of another", func(l [][]byte) [][]byte {
			e := log[7]
			e.Signed = log[3].Signed
			l[7] = append(e.Line(), '\n')
			return l
		}, Altered, 8, 8},
		{"two lines are swapped", func(l [][]byte) [][]byte { return swap(l, 2, 4) }, Reordered, 3, 3},
		{"a line is twice there", func(l [][]byte) [][]byte { return slices.Insert(l, 3, l[2]) }, Inserted, 4, 4},
		{"an earlier line comes again", func(l [][]byte) [][]byte { return slices.Insert(l, 6, l[1]) }, Inserted, 7, 7},
		{"nonsense is put in", func(l [][]byte) [][]byte { return slices.Insert(l, 2, []byte("{}\n")) }, Inserted, 3, 3},
		{"a forged entry is put in before", func(l [][]byte) [][]byte {
			return slices.Insert(l, 2, append(another[2].Line(), '\n'))
		}, Inserted, 3, 3},
		{"a forged entry that fits is put in", func(l [][]byte) [][]byte {
			e := log[2]
			e.Target = "Server/n9"
			e.Hash = e.Sum()
			return slices.Insert(l, 2, append(e.Line(), '\n'))
		}, Inserted, 4, 4},
		{"the end is gone", func(l [][]byte) [][]byte { return l[:12] }, Cut, 13, 0},
		{"the tail is gone, but for the end", func(l [][]byte) [][]byte { return append(l[:9:9], l[12]) }, Cut, 10, 10},
		{"the tail is gone back to a checkpoint", func(l [][]byte) [][]byte { return l[:8] }, Cut, 9, 0},
		{"all is gone", func([][]byte) [][]byte { return nil }, Cut, 1, 0},
		{"all is gone, but for the end", func(l [][]byte) [][]byte { return l[12:] }, Cut, 1, 1},
		{"the first segment is gone", func(l [][]byte) [][]byte { return l[5:] }, Cut, 8, 1},
		{"the first line is gone", func(l [][]byte) [][]byte { return l[1:] }, Cut, 1, 0},
		{"the last line has no end", func(l [][]byte) [][]byte { l[12] = bytes.TrimSpace(l[12]); return l }, Altered, 13, 0},
		{"an entry has no end", func(l [][]byte) [][]byte { l[11] = l[11][:30]; return l[:12] }, Altered, 12, 0},
		{"something follows", func(l [][]byte) [][]byte { return append(l, []byte("\n")) }, Inserted, 14, 0},
		{"the end is that of a shorter export", func(l [][]byte) [][]byte {
			short := exported(t, log[:8])
			return append(l[:12:12], short[8])
		}, Altered, 13, 13},
		{"the end is in the middle", func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[12]) }, Cut, 5, 5},
		{"another log under the same end", func(l [][]byte) [][]byte {
			return append(exported(t, another)[:12:12], l[12])
		}, Altered, 13, 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := verify(joined(c.lines(exported(t, log))))
			f, ok := errors.AsType[*Finding](err)
			if !ok || f.Fault != c.fault || f.Line != c.line || f.Seq != c.seq || f.Code() != protocol.CodeConflict {
				t.Errorf("%#v, want %s on line %d, entry %d", err, c.fault, c.line, c.seq)
			}
		})
	}
}

// A log that is whole, and signed by another key than was given.
func TestForeign(t *testing.T) {
	data := joined(exported(t, built(t, 12, "ha")))
	for _, keys := range []*Keys{NewKeys(), NewKeys(signer("eve").Public())} {
		_, err := Verify(bytes.NewReader(data), keys, nil)
		f, ok := errors.AsType[*Finding](err)
		if !ok || f.Fault != Foreign || f.Line != 1 || f.Seq != 1 || f.Code() != protocol.CodeDenied {
			t.Errorf("%v", err)
		}
	}
	// The hub has changed its key; both are given.
	if _, err := Verify(bytes.NewReader(data), NewKeys(signer("new").Public(), signer("hub").Public()), nil); err != nil {
		t.Error(err)
	}
	// Only the end is another's.
	end, err := EndLine(signer("eve"), End{From: 1, Seq: 12})
	if err != nil {
		t.Fatal(err)
	}
	lines := exported(t, built(t, 12, "ha"))
	lines[12] = append(end, '\n')
	if _, err := verify(joined(lines)); !strings.Contains(err.Error(), string(Foreign)) {
		t.Error(err)
	}
}

// No byte of an export can be changed, taken away or put in unseen.
func TestEachByte(t *testing.T) {
	keys := hubKeys()
	data := joined(exported(t, built(t, 4, "ha"))) // a segment, two entries, a checkpoint
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 1
		if _, err := verifyBy(keys, changed); err == nil {
			t.Errorf("byte %d was changed to %q unseen", i, changed[i])
		}
		if _, err := verifyBy(keys, slices.Delete(slices.Clone(data), i, i+1)); err == nil {
			t.Errorf("byte %d was taken away unseen", i)
		}
	}
}

// Nor any bytes, nor lines, in any way, even by one who computes the hashes anew.
func TestTampering(t *testing.T) {
	log := built(t, 14, "ha")
	original := joined(exported(t, log))
	other := exported(t, built(t, 14, "eve"))
	keys := hubKeys()
	rapid.Check(t, func(t *rapid.T) {
		lines := exported(noTB{}, log)
		at := func(label string) int { return rapid.IntRange(0, len(lines)-1).Draw(t, label) }
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			switch rapid.SampledFrom([]string{"bytes", "remove", "copy", "move", "foreign", "cut", "rehash"}).Draw(t, "what") {
			case "bytes":
				i := at("line")
				j := rapid.IntRange(0, len(lines[i])).Draw(t, "at")
				k := rapid.IntRange(j, min(len(lines[i]), j+5)).Draw(t, "to")
				lines[i] = slices.Concat(lines[i][:j], rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes"), lines[i][k:])
			case "remove":
				i := at("line")
				lines = slices.Delete(lines, i, i+1)
			case "copy":
				lines = slices.Insert(lines, at("to"), lines[at("from")])
			case "move":
				i, j := at("a"), at("b")
				lines[i], lines[j] = lines[j], lines[i]
			case "foreign":
				lines[at("line")] = other[rapid.IntRange(0, len(other)-1).Draw(t, "other")]
			case "cut":
				lines = lines[:at("line")+1]
			case "rehash":
				lines = rehash(lines)
			}
			if len(lines) == 0 {
				break
			}
		}
		if bytes.Equal(joined(lines), original) {
			return // it was put back
		}
		if _, err := verifyBy(keys, joined(lines)); err == nil {
			t.Fatalf("unseen:\n%s", joined(lines))
		}
	})
}

// rehash numbers and hashes anew what can be read.
func rehash(lines [][]byte) [][]byte {
	seq, prev := uint64(0), ""
	for i, line := range lines {
		e, err := protocol.ParseAuditLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			continue
		}
		seq++
		e.Seq, e.Prev = seq, prev
		e.Hash = e.Sum()
		prev = e.Hash
		lines[i] = append(e.Line(), '\n')
	}
	return lines
}

// noTB is for what cannot fail.
type noTB struct{ testing.TB }

func (noTB) Helper() {}

// Whatever a file holds is judged without a panic, and only what the hub wrote passes.
func FuzzVerify(f *testing.F) {
	good := joined(exported(f, built(f, 6, "ha")))
	f.Add(good)
	f.Add(joined(exported(f, built(f, 12, "ha"))[5:]))
	f.Add([]byte("{\"end\":\"0oRQ\"}\n"))
	f.Add([]byte("{}\n\n{\"at\":"))
	keys := hubKeys()
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := Verify(bytes.NewReader(data), keys, nil)
		if err != nil {
			if _, ok := errors.AsType[*Finding](err); !ok {
				t.Errorf("no finding: %v", err)
			}
			return
		}
		if !bytes.Equal(data, good) {
			t.Errorf("passes as %+v", rep)
		}
	})
}
