package link

import (
	"testing"
	"time"

	"rackboot/protocol/message"
)

// A report that no nonce proves counts where it cannot be older than what is known: a broker may keep one for a year.
func TestOverheardReports(t *testing.T) {
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	report := func(session, store string, sequence uint64, age time.Duration) message.Report {
		return message.Report{Session: session, StoreHead: message.StoreHead{Store: store, Sequence: sequence}, At: at.Add(-age)}
	}
	last := report("s2", "disk", 100, 0)
	for name, row := range map[string]struct {
		m     message.Report
		heard bool
		kept  uint64 // that the ledger has of the disk
		want  bool
	}{
		"the first that is heard":                            {report("s1", "disk", 90, time.Hour), false, 0, true},
		"the first, older than what the ledger knows":        {report("s1", "disk", 90, time.Hour), false, 95, false},
		"of the same session":                                {report("s2", "disk", 100, 0), true, 100, true},
		"of another session, further":                        {report("s3", "disk", 101, time.Hour), true, 100, true},
		"of another session, as far and later":               {report("s3", "disk", 100, -time.Second), true, 100, true},
		"of a session before, as far":                        {report("s1", "disk", 100, time.Second), true, 100, false},
		"of a session before":                                {report("s1", "disk", 99, -time.Hour), true, 50, false},
		"of another disk":                                    {report("s3", "new", 1, 0), true, 100, true},
		"of the same session, older than the ledger's knows": {report("s2", "disk", 100, 0), true, 101, false},
	} {
		if got := credible(row.m, last, row.heard, message.StoreHead{Store: "disk", Sequence: row.kept}); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
