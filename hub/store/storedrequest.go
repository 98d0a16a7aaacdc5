package store

import (
	"time"

	"rackboot/protocol/resource"
)

// StoredRequest is a one-shot request with what the hub knows of it.
type StoredRequest struct {
	resource.Request
	Rack string `json:"rack"` // of the server, when it was accepted
	// Report is the agent's last word; pending until there is one.
	Report    resource.RequestReport `json:"report"`
	CreatedAt time.Time              `json:"createdAt"`
	Revision  uint64                 `json:"-"` // for compare-and-set; 0 creates
}

// requestKind names requests in the keys of rules. They are no resources.
const requestKind resource.Kind = "Request"

// ended reports whether the agent's last word is final.
func (r *StoredRequest) ended() bool {
	return r.Report.Outcome != "" && r.Report.Outcome != resource.OutcomePending
}
