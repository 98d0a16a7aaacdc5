package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Discovers says whether the attempt is an open window of a discovery: its server was
// powered on, and has not got its last file.
func (a *Attempt) Discovers() bool {
	return a.Open() && a.forDiscovery() && (a.Stage.State == resource.AttemptPowerRequested || a.Stage.State == resource.AttemptConsumed) && !a.Marks.Served
}

// Stranger is whom a boot client that no server names is taken for.
type Stranger string

// The answers.
const (
	StrangerNobody    Stranger = "nobody"
	StrangerKnown     Stranger = "known"     // the server that it was taken for before, in the same attempt
	StrangerOnly      Stranger = "only"      // the one whose discovery's window is open
	StrangerAmbiguous Stranger = "ambiguous" // several are open: it is refused, and that is said
)

// StrangerRule says whom a boot client is taken for whose MAC address and UUID no server
// has, by the open windows of discoveries in its segment. The first row that fits
// decides.
//
//	before | class | windows | answer
//	yes    | *     | *       | known
//	no     | os    | *       | nobody
//	no     | boot  | none    | nobody
//	no     | boot  | one     | only
//	no     | boot  | several | ambiguous
//
// before is that it was answered as a server's in an attempt that is the server's last
// still: its operating system asks by the same interface. Only discoveries have such
// windows: their image installs nothing and is given no secret.
func StrangerRule(before bool, class protocol.ClientClass, windows int) Stranger {
	switch {
	case before:
		return StrangerKnown
	case class == protocol.ClassNone, windows == 0:
		return StrangerNobody
	case windows == 1:
		return StrangerOnly
	}
	return StrangerAmbiguous
}
