package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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
	return c.EventsOf(ctx, EventQuery{After: after, Limit: limit})
}

// EventQuery is which events are asked for. What is empty bounds nothing.
type EventQuery struct {
	After uint64 // only those with a greater Index
	Limit int    // at most so many, up to 1000
	For   string // Kind/name
	Rack  string
	Codes []resource.EventCode
	Since time.Time
}

// EventsOf reads events that a query asks for, the oldest first.
func (c *Client) EventsOf(ctx context.Context, query EventQuery) (out EventList, err error) {
	q := url.Values{"after": {strconv.FormatUint(query.After, 10)}, "limit": {strconv.Itoa(query.Limit)}}
	var codes []string
	for _, code := range query.Codes {
		codes = append(codes, string(code))
	}
	for key, value := range map[string]string{"for": query.For, "rack": query.Rack, "code": strings.Join(codes, ",")} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if !query.Since.IsZero() {
		q.Set("since", query.Since.UTC().Format(time.RFC3339Nano))
	}
	err = c.hub.call(ctx, http.MethodGet, PathEvents+"?"+q.Encode(), nil, &out)
	return out, err
}
