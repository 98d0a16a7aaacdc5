package store

import (
	"encoding/json"
	"time"

	"rackboot/protocol"
)

// StoredBulk is a bulk operation without what became of each of its names, which is in its parts.
type StoredBulk struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	// Caller is who asked, as it was known then: hub/access has its form.
	Caller json.RawMessage `json:"caller"`
	By     string          `json:"by"`
	// Body is of the request for each name.
	Body        json.RawMessage `json:"body"`
	Parallel    int             `json:"parallel"`
	StopAfter   int             `json:"stopAfter,omitempty"`
	Parts       int             `json:"parts"`
	CreatedAt   time.Time       `json:"createdAt"`
	CancelledBy string          `json:"cancelledBy,omitempty"`
	Stopped     bool            `json:"stopped,omitempty"` // after too many failures
	EndedAt     *time.Time      `json:"endedAt,omitempty"`
	Revision    uint64          `json:"-"` // for compare-and-set; 0 creates
}

// BulkPart is some of the names of a bulk operation. Nobody but its worker writes one.
type BulkPart struct {
	Items    []BulkItem `json:"items"`
	Revision uint64     `json:"-"` // for compare-and-set; 0 creates
}

// BulkItem is a name and what became of it: done, a failure, or nothing yet.
type BulkItem struct {
	Name    string        `json:"name"`
	Done    bool          `json:"done,omitempty"`
	Code    protocol.Code `json:"code,omitempty"` // of a failure
	Message string        `json:"message,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}

// Tried reports whether something became of it.
func (i BulkItem) Tried() bool { return i.Done || i.Code != "" }
