package audit

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// The table at judge, for all combinations.
func TestJudge(t *testing.T) {
	chain := auditlog.NewChain(nil)
	chain.Seq, chain.Hash = 9, "h9"
	wrong := &auditlog.Finding{Fault: auditlog.Cut}
	for _, finding := range []*auditlog.Finding{nil, wrong} {
		for _, torn := range []int64{0, 7} {
			for _, op := range []string{"", "hold", protocol.AuditOpCheckpoint, protocol.AuditOpSegment, protocol.AuditOpTorn, protocol.AuditOpBreak} {
				for _, first := range []uint64{10, 12} {
					for _, prev := range []string{"h9", "other"} {
						begins := op != "" && op != "hold" && op != protocol.AuditOpCheckpoint
						want := auditlog.Fault("")
						switch {
						case finding != nil:
							want = auditlog.Cut
						case !begins:
						case torn > 0 && op == protocol.AuditOpSegment:
							want = auditlog.Altered
						case op == protocol.AuditOpBreak && first == 10:
						case first == 12:
							want = auditlog.Missing
						case prev == "other":
							want = auditlog.Altered
						}
						got := judge(scanned{chain: chain, wrong: finding, lines: 3, torn: torn}, segment{first: first, prev: prev, op: op})
						if (got == nil) != (want == "") || (got != nil && got.Fault != want) {
							t.Errorf("finding %v, torn %d, next %q %d after %s: %v, want %q", finding, torn, op, first, prev, got, want)
						}
					}
				}
			}
		}
	}
}
