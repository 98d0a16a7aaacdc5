package auditlog

import (
	"fmt"

	"rackboot/protocol"
)

// Chain follows a log line by line, from the beginning of any segment. It is not safe
// for concurrent use.
type Chain struct {
	keys *Keys
	line int
	// First is the first entry; its Seq is 0 before there is one.
	First protocol.AuditEntry
	// Seq and Hash are those of the last entry that fits.
	Seq  uint64
	Hash string
	// Checkpoints counts the signed entries; Covered is the number of the last one.
	Checkpoints int
	Covered     uint64
	// Notes are the entries in which the hub says that the log was torn or broken.
	Notes []protocol.AuditEntry
	// Known is what the last signed entry says of the hubs that share a store.
	Known Known
}

// NewChain makes a Chain that believes the keys.
func NewChain(keys *Keys) *Chain { return &Chain{keys: keys} }

// Add judges the next line, given without its end. After a Finding the Chain stands
// where it stood; the entry is returned if its line could be read.
//
//	the line                           | it follows | outcome
//	is no entry, or in another form    |            | altered
//	has another hash than it says      |            | altered
//	is the first, and no segment's     |            | cut
//	has the next number, another prev  |            | altered; see [Verify] for inserted
//	has a greater number               |            | missing; see [Verify] for reordered
//	has a smaller number               |            | inserted
//	is signed where it must not be, or |            | altered
//	 the reverse, or wrongly           |            | altered, or foreign signature
//	begins no segment, and is signed   |            |
//	 by a hub of another name          |            | altered
//	else                               | yes        |
//
// The first row that fits decides.
func (c *Chain) Add(line []byte) (protocol.AuditEntry, *Finding) {
	c.line++
	expected := c.Seq + 1
	if c.First.Seq == 0 {
		expected = 0 // not known
	}
	no := func(f Fault, format string, args ...any) *Finding {
		return &Finding{Fault: f, Line: c.line, Seq: expected, Why: fmt.Sprintf(format, args...)}
	}
	e, err := protocol.ParseAuditLine(line)
	if err != nil {
		return protocol.AuditEntry{}, no(Altered, "%s", messageOf(err))
	}
	if e.Hash != e.Sum() {
		return protocol.AuditEntry{}, no(Altered, "its hash is not that of what it says")
	}
	if expected == 0 && !protocol.AuditBegins(e.Op) {
		return e, no(Cut, "it begins with entry %d, which begins no segment", e.Seq)
	}
	if expected != 0 {
		switch {
		case e.Seq == expected && e.Prev != c.Hash:
			return e, no(Altered, "it does not follow entry %d: one of the two is another than was written", c.Seq)
		case e.Seq > expected:
			return e, no(Missing, "%s not there; entry %d comes next", run(expected, e.Seq-1), e.Seq)
		case e.Seq < expected:
			return e, no(Inserted, "entry %d stands here again, after entry %d", e.Seq, c.Seq)
		}
	}
	expected = e.Seq
	if f, why := c.signature(e); f != "" {
		return e, no(f, "%s", why)
	}
	if c.First.Seq == 0 {
		c.First = e
	}
	if protocol.AuditOwn(e.Op) {
		c.Checkpoints++
		c.Covered = e.Seq
	}
	if e.Op == protocol.AuditOpTorn || e.Op == protocol.AuditOpBreak {
		c.Notes = append(c.Notes, e)
	}
	c.Seq, c.Hash = e.Seq, e.Hash
	return e, nil
}

func (c *Chain) signature(e protocol.AuditEntry) (Fault, string) {
	switch own := protocol.AuditOwn(e.Op); {
	case own != (len(e.Signed) > 0):
		return Altered, "its signature was taken away, or one was added"
	case !own:
		return "", ""
	}
	var cp Checkpoint
	if f, why := c.keys.open(TopicCheckpoint, e.Signed, &cp); f != "" {
		return f, why
	}
	if cp.Seq != e.Seq || cp.Hash != e.Hash {
		return Altered, fmt.Sprintf("the hub signed another entry here; what changed stands between entry %d and this one", c.Covered)
	}
	// A hub that was given another name goes on with another segment.
	if cp.Hub != c.Known.Hub && cp.Hub != "" && c.Known.Hub != "" && !protocol.AuditBegins(e.Op) {
		return Altered, fmt.Sprintf("hub %q signed it, and hub %q what is before it", cp.Hub, c.Known.Hub)
	}
	c.Known = cp.Known
	return "", ""
}

// run names a run of entries.
func run(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("entry %d is", from)
	}
	return fmt.Sprintf("entries %d to %d are", from, to)
}
