package auditlog

import (
	"bytes"
	"testing"

	"rackboot/protocol"
)

// The rows of the table at Follows, and the threat "an old backup": a log that was put
// back from an older copy and went on is forked, one that did not go on is cut.
func TestFollows(t *testing.T) {
	log := built(t, 20, "ha")
	// The log as it was at entry 8, gone on otherwise.
	restored := append(log[:8:8], built(t, 20, "eve")[8:]...)
	restored = resigned(t, restored)
	read := func(log []protocol.AuditEntry) *History {
		h, err := ReadHistory(bytes.NewReader(joined(exported(t, log))), hubKeys())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, c := range []struct {
		name     string
		now, old []protocol.AuditEntry
		fault    Fault
		seq      uint64
	}{
		{"the same", log, log, "", 0},
		{"gone on", log, log[:13], "", 0},
		{"begins within the old one", log[5:], log[:13], "", 0},
		{"begins where the old one does", log[5:], log[5:13], "", 0},
		{"begins before the old one", log, log[5:13], "", 0},
		{"begins just after the old one", log[10:], log[:10], "", 0},
		{"begins later", log[10:], log[:9], Missing, 10},
		{"begins much later", log[15:], log[:9], Missing, 10},
		{"put back", log[:13], log, Cut, 14},
		{"put back and gone on", restored, log[:13], Forked, 9},
		{"put back and gone on for less", restored[:10], log[:13], Forked, 9},
		{"put back, and its beginning moved away", restored[10:], log[:13], Forked, 11},
		{"put back, and the next one begins after the old one", restored[10:], log[:10], Forked, 11},
		{"begun anew", built(t, 20, "eve"), log[:13], Forked, 1},
	} {
		f := read(c.now).Follows(read(c.old))
		if got := (Finding{}); f != nil {
			got = *f
			if got.Fault != c.fault || got.Seq != c.seq || got.Why == "" || got.Error() == "" {
				t.Errorf("%s: %+v, want %s of %d", c.name, got, c.fault, c.seq)
			}
		} else if c.fault != "" {
			t.Errorf("%s: nothing found, want %s", c.name, c.fault)
		}
	}
}

// resigned is the log as the hub itself would have written it.
func resigned(t *testing.T, log []protocol.AuditEntry) []protocol.AuditEntry {
	log = rehashed(log)
	for i := range log {
		if protocol.AuditOwn(log[i].Op) {
			if err := Sign(signer("hub"), &log[i], Known{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return log
}
