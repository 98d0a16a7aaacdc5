package api

import (
	"encoding/json"

	"rackboot/protocol/resource"
)

// ApplyRequest asks to write a set of resources: all are checked before any is
// written.
type ApplyRequest struct {
	Objects []json.RawMessage `json:"objects"`
	DryRun  bool              `json:"dryRun,omitempty"`
}

// ApplyAnswer says what became of each object, in the order of the request.
type ApplyAnswer struct {
	Results []ApplyResult `json:"results"`
}

// ApplyResult is what became of one object.
type ApplyResult struct {
	Kind       resource.Kind `json:"kind"`
	Name       string        `json:"name"`
	Outcome    string        `json:"outcome" doc:"created, configured or unchanged"`
	Generation uint64        `json:"generation"`
	Revision   uint64        `json:"revision"`
	// Reboots are what reboot annotations of metal3 came to, as far as something was to be done.
	Reboots []RebootResult `json:"reboots,omitempty"`
}

// RebootResult is what a reboot annotation came to.
type RebootResult struct {
	Annotation string `json:"annotation"`
	Outcome    string `json:"outcome" doc:"held, released or asked"`
	Server     string `json:"server"`
	// Hold or Request is the one that was placed, released or made; empty with dryRun.
	Hold    string `json:"hold,omitempty"`
	Request string `json:"request,omitempty"`
}

// List is all resources of a kind, sorted by name.
type List[T any] struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // ServerList
	Items      []T    `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}
