package judge

import (
	"fmt"

	"rackboot/protocol"
)

// audit finds accepted operations without an entry, and a log that does not fit together:
// each accepted operation has an entry that says that it was asked for, written before it
// was done. How it ended may be missing where the hub was killed meanwhile.
func audit(h History, v *Verdict) {
	type key struct{ op, target string }
	entries := map[key]int{}
	for _, e := range h.Audit {
		if e.Outcome == protocol.AuditAsked {
			entries[key{e.Op, e.Target}]++
		}
	}
	for _, o := range h.Ops {
		switch {
		case o.Kind == OpVerify && o.Result == Refused:
			v.tested(AuditWhole, "", o.Begun, o.Ended)
			v.broken(AuditWhole, "", o.Ended, "the audit log does not fit together: "+o.Why)
		case o.Kind == OpVerify && o.Result == Accepted:
			v.tested(AuditWhole, "", o.Begun, o.Ended)
		case o.AuditOp == "" || o.Result != Accepted || !h.AuditRead:
		default:
			v.tested(AuditWhole, o.Server, o.Begun, o.Ended)
			k := key{o.AuditOp, o.AuditTarget}
			if entries[k]--; entries[k] < 0 {
				v.broken(AuditWhole, o.Server, o.Ended, fmt.Sprintf("%s of %s was accepted, and the audit log has no entry for it", o.AuditOp, o.AuditTarget))
			}
		}
	}
}
