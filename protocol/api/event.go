package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"rackboot/protocol/resource"
)

// EventRecord is an event of an agent as the hub has it. Index grows over all
// agents.
type EventRecord struct {
	resource.Event
	// Target is what an event of the hub's own is about; nil where that is its server alone.
	Target *resource.Target `json:"target,omitempty"`
	Agent  string           `json:"agent"`
	Index  uint64           `json:"index"`
}

// EventList is a run of events. Next is the after of the request that goes on.
type EventList struct {
	Items []EventRecord `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	Next       uint64      `json:"next"`
}

// Events reads up to limit events with an index greater than after.
func (c *Client) Events(ctx context.Context, after uint64, limit int) (out EventList, err error) {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(limit)}}
	err = c.hub.call(ctx, http.MethodGet, PathEvents+"?"+q.Encode(), nil, &out)
	return out, err
}
