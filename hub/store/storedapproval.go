package store

import (
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// StoredApproval is the wish for an approval as it is kept.
type StoredApproval struct {
	resource.ApprovalRequest
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

func decodeApproval(value []byte, revision uint64) (r StoredApproval, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, protocol.Errorf(protocol.CodeInternal, "read approval", "%w", err)
	}
	r.Revision = revision
	return r, nil
}
