package route

import (
	"rackboot/hub/access"
	"rackboot/protocol/resource"
)

// Target says how the target of a route is found.
type Target string

// The targets.
const (
	TargetWhole   Target = "whole"   // the hub as a whole
	TargetNamed   Target = "named"   // the resource of the path
	TargetRequest Target = "request" // the server of the request of the path
	TargetEach    Target = "each"    // what is listed or applied: the handler judges each
	TargetNone    Target = "none"    // the caller itself
)

// Rule says which right a route needs, and on what. The zero Rule is for callers only who may do
// everything everywhere; a test refuses it.
type Rule struct {
	Right  access.Operation
	Target Target
	Kind   resource.Kind // of a named target
	Open   bool          // it brings its own proof, and is not judged
	Secret bool          // its answer has a secret, which is not kept
	Noted  string        // what the audit log calls it, where Right has several; default Right
	ISO    bool          // it is about an uploaded file
	Packed bool          // it is about a package of agents
	Part   bool          // it is a part of an act that is recorded
	Hold   bool          // background work gives way to it
	Heavy  bool          // it takes the processor for as long as there is much, and waits for nobody: callers take turns
	Read   bool          // it changes nothing, and is recorded all the same
}
