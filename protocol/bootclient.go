package protocol

import "net/netip"

// ClientClass is what kind of boot client sent a DHCP packet.
type ClientClass string

// The client classes.
const (
	ClassHTTPClient ClientClass = "HTTPClient" // option 60 begins "HTTPClient": UEFI HTTP boot
	ClassPXEClient  ClientClass = "PXEClient"  // option 60 begins "PXEClient" and not iPXE
	ClassIPXE       ClientClass = "iPXE"       // option 77 or 175 says iPXE; FlexBoot and gPXE too
	ClassNone       ClientClass = "none"       // no boot client: an operating system
	// ClassGRUB, ClassUBoot and ClassRaspberryPi are loaders and firmware that take
	// another answer than PXE firmware.
	ClassGRUB        ClientClass = "GRUB"
	ClassUBoot       ClientClass = "U-Boot"
	ClassRaspberryPi ClientClass = "RaspberryPi"
)

// ClientClasses lists all client classes.
func ClientClasses() []ClientClass {
	return []ClientClass{ClassHTTPClient, ClassPXEClient, ClassIPXE, ClassNone, ClassGRUB, ClassUBoot, ClassRaspberryPi}
}

// BootClient is who asks, as seen on the wire.
type BootClient struct {
	Segment string `json:"segment"`
	MAC     string `json:"mac"` // lower case, colons
	// UUID is DHCPv4 option 97 in the byte order of the wire, 8-4-4-4-12 lower
	// case; empty if absent, all zero or all ones. Firmware differs in the byte
	// order of the first three groups: compare both.
	UUID  string      `json:"uuid,omitempty"`
	XID   uint32      `json:"xid"`
	Class ClientClass `json:"class"`
	// Archs are the processor architecture types (DHCPv4 option 93, RFC 4578).
	Archs []uint16 `json:"archs,omitempty"`
	// Address is the address that the client holds or is being offered.
	Address netip.Addr `json:"address"`
	// Port is where a relay sees the client: the remote ID and circuit ID of option
	// 82 (RFC 3046), joined by a slash where there are both. What is not printable
	// ASCII is 0x and hexadecimal digits. Empty without a relay.
	Port string `json:"port,omitempty"`
}

// AnswerAction is what to do with a boot client.
type AnswerAction string

// The answers. The zero value is not an answer.
const (
	AnswerSilence AnswerAction = "silence" // not a machine of ours: say nothing
	AnswerLease   AnswerAction = "lease"   // an address without boot data
	AnswerBoot    AnswerAction = "boot"    // an address and what to boot
	AnswerRefuse  AnswerAction = "refuse"  // a fast refusal in the client's own form
)

// AnswerActions lists all answers.
func AnswerActions() []AnswerAction {
	return []AnswerAction{AnswerSilence, AnswerLease, AnswerBoot, AnswerRefuse}
}

// BootAnswer is the decision for a BootClient. It is frozen per (MAC, xid),
// because UEFI HTTP boot takes the URL from the OFFER and never re-reads it.
type BootAnswer struct {
	Action AnswerAction `json:"action"`
	Server string       `json:"server,omitempty"`
	Reason string       `json:"reason"`
	// Token is the open attempt's token when Action is boot, and also when it is
	// lease and a report is awaited; the URL is made from the segment's base URL.
	Token string `json:"-"`
	// File is the file below the token's path when Action is boot.
	File string `json:"file,omitempty"`
}

// EvidenceKind is what a boot client was seen to do.
type EvidenceKind string

// The kinds of evidence, in the order in which they happen.
const (
	EvidenceDHCP      EvidenceKind = "dhcp"      // a boot client's DISCOVER or REQUEST
	EvidenceFetched   EvidenceKind = "fetched"   // the last byte of the boot file was sent
	EvidenceInstalled EvidenceKind = "installed" // the image reported the end of installation
	EvidenceBooted    EvidenceKind = "booted"    // the installed system reported that it runs

	EvidenceDiscovered EvidenceKind = "discovered" // the image reported its inventory, and is about to switch the server off
	EvidenceFailed     EvidenceKind = "failed"     // the image reported that it could not do its work
)
