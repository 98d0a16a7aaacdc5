package ignition

import (
	"rackboot/protocol"
)

// Class says why a stub cannot be used. The words are shown to people and compared by
// programs; the first six are the classes of coreos/ign-converter.
type Class string

// The classes of refusals.
const (
	UsesNetworkd    Class = "UsesNetworkd"    // networkd.units: specification 3 writes them as files
	NoFilesystem    Class = "NoFilesystem"    // something is on a filesystem whose place in the tree is not said
	DuplicateInode  Class = "DuplicateInode"  // two files, directories or links at one path
	UsesOwnLink     Class = "UsesOwnLink"     // something lies below a link of the same stub
	DuplicateUnit   Class = "DuplicateUnit"   // one unit twice
	DuplicateDropin Class = "DuplicateDropin" // one drop-in of a unit twice
	Deprecated      Class = "Deprecated"      // a deprecated field that cannot be converted: sectors that are no MiB
	NotIgnition     Class = "NotIgnition"     // empty, or neither JSON nor Butane
	CloudConfig     Class = "CloudConfig"     // begins with #cloud-config
	Script          Class = "Script"          // begins with #!
	NotAnObject     Class = "NotAnObject"     // JSON, but a list, null or a plain value
	UnknownVersion  Class = "UnknownVersion"  // no version, or one that is not known
	TooNew          Class = "TooNew"          // needs a higher specification than the image reads
	WouldLose       Class = "WouldLose"       // the translation would drop something, and that was not accepted
	Invalid         Class = "Invalid"         // not valid by its own specification, or by that of the result
)

// classes are all of them.
var classes = []Class{
	UsesNetworkd, NoFilesystem, DuplicateInode, UsesOwnLink, DuplicateUnit, DuplicateDropin, Deprecated,
	NotIgnition, CloudConfig, Script, NotAnObject, UnknownVersion, TooNew, WouldLose, Invalid,
}

// Refusal is why a stub cannot be used. Errors of this package wrap it, so that
// errors.As finds it. Neither field has a value of the stub, see the package.
type Refusal struct {
	Class   Class
	Path    string // below $, of the stub as it was given; after > inside of a configuration that it includes
	Message string // a sentence without its subject, which is the path
	Lost    []Loss // with WouldLose, everything that would be lost; Path and Message are the first
}

// Loss is something that a stub says and its translation does not.
type Loss struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Error is the class, the path and the sentence.
func (r *Refusal) Error() string { return string(r.Class) + " at " + r.Path + ": " + r.Message }

func refuse(c Class, path, message string) *Refusal {
	return &Refusal{Class: c, Path: path, Message: message}
}

// inside says where the refusal is if the stub is included by another at outer.
func (r *Refusal) inside(outer string) *Refusal {
	return refuse(r.Class, outer+">"+r.Path, r.Message)
}

// failed is the refusal as the error of an operation. The code is invalid.
func (r *Refusal) failed(op string) error {
	var hint string
	switch r.Class {
	case WouldLose:
		hint = "write what is at the path in words of specification 3, or accept the loss: --accept-loss, spec.stub.acceptLoss of a group"
	case TooNew:
		hint = "use an image that reads the specification (maxIgnition), or write the stub for an older one"
	default:
		hint = "correct the stub; rackctl ignition translate tries it on a file"
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "%w", r).WithHint("%s", hint)
}
