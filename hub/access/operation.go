package access

import "rackboot/protocol/resource"

// Operation is what somebody wants to do.
type Operation string

// The operations.
const (
	Read      Operation = "read"
	Apply     Operation = "apply"
	Delete    Operation = "delete"
	Hold      Operation = "hold"
	Release   Operation = "release"
	Request   Operation = "request" // one reboot, or one power-off
	Confirm   Operation = "confirm" // that a server is down
	Firmware  Operation = "firmware"
	Accept    Operation = "accept" // a BMC, or what a server shows
	JoinToken Operation = "join-token"
	Revoke    Operation = "revoke"
	Replace   Operation = "replace"
	Secret    Operation = "secret" // anything that is done with a Secret: it is nobody's to see but the admin's
	AuditRead Operation = "audit-read"
	Approve   Operation = "approve"
	Wipe      Operation = "wipe"   // boot what discards the disks of a server
	Import    Operation = "import" // what another hub exported, with its owners and words
	Backup    Operation = "backup" // a copy of the hub, which has its keys
)

// Operations lists the operations.
func Operations() []Operation {
	return []Operation{
		Read, Apply, Delete, Hold, Release, Request, Confirm, Firmware, Accept,
		JoinToken, Revoke, Replace, Secret, AuditRead, Approve, Import, Wipe, Backup,
	}
}

// On is the operation that a verb (read, apply, delete) is for a kind. Without its
// Agent a rack can be joined by another, so that its deletion is a replacement.
// The first row that fits decides.
//
//	verb   | kind   | operation
//	*      | Secret | secret
//	delete | Agent  | replace
//	*      | *      | the verb
func On(verb Operation, kind resource.Kind) Operation {
	switch {
	case kind == resource.KindSecret:
		return Secret
	case verb == Delete && kind == resource.KindAgent:
		return Replace
	}
	return verb
}
