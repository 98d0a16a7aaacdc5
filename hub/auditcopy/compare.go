package auditcopy

import (
	"fmt"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// compare holds the end of a hub's log in the stream to its files. next is the first entry of the files from that number
// on; its Seq is 0 if there is none. gone counts the entries that are in neither.
//
//	the stream's end | next in the files           | outcome
//	nothing          | *                           | goes on
//	an entry         | is none                     | cut
//	an entry         | is it, with another hash    | forked
//	an entry         | is it                       | goes on
//	an entry         | follows it, by another prev | forked
//	an entry         | follows it                  | goes on
//	an entry         | comes later                 | goes on, and entries are gone
//
// The first row that fits decides.
func compare(end auditlog.Head, next protocol.AuditEntry) (wrong *auditlog.Finding, gone uint64) {
	forked := func(why string) *auditlog.Finding {
		return &auditlog.Finding{Fault: auditlog.Forked, Hub: end.Hub, Seq: end.Seq, Why: fmt.Sprintf("%s; the stream has it with hash %s", why, end.Hash)}
	}
	switch {
	case end.Seq == 0:
		return nil, 0
	case next.Seq == 0:
		return &auditlog.Finding{Fault: auditlog.Cut, Hub: end.Hub, Seq: end.Seq, Why: fmt.Sprintf("the files end before it; the stream has it with hash %s", end.Hash)}, 0
	case next.Seq == end.Seq && next.Hash != end.Hash:
		return forked("the files have another entry under its number, or none that can be read"), 0
	case next.Seq == end.Seq:
		return nil, 0
	case next.Seq == end.Seq+1 && next.Prev != end.Hash:
		return forked("the files go on after another entry"), 0
	}
	return nil, next.Seq - end.Seq - 1
}
