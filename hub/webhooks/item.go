package webhooks

import (
	"encoding/json"
	"fmt"
	"time"

	"rackboot/hub/events"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// contentType is that of a CloudEvent in structured mode.
const contentType = "application/cloudevents+json"

// The types of what is sent. That of an event is typePrefix and its code.
const (
	typePrefix = "io.rackboot.event."
	typeGap    = "io.rackboot.webhook.gap"
	typeTest   = "io.rackboot.webhook.test"
)

// cloudEvent is a CloudEvent (CloudEvents 1.0, JSON format 2.2, 3).
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject,omitempty"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        any       `json:"data"`
}

// gap says which events a receiver was never told of.
type gap struct {
	// After and UpTo are Indexes: events after the one, up to the other, were cut off.
	After uint64 `json:"after"`
	UpTo  uint64 `json:"upTo"`
}

// item is one thing that is sent.
type item struct {
	cloudEvent
	index    uint64 // the place of the hook once it is done
	filed    time.Time
	attempts int // that failed
}

func itemOf(source string, ev events.Filed) *item {
	return &item{cloudEvent: eventOf(source, ev.ID, ev.EventRecord), index: ev.Index, filed: ev.At}
}

// body is what is sent. It is of types that JSON has.
func (c cloudEvent) body() []byte {
	raw, err := json.Marshal(c)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

func eventOf(source, id string, ev api.EventRecord) cloudEvent {
	return cloudEvent{
		SpecVersion: "1.0", ID: id, Source: source, Type: typePrefix + string(ev.Code), Subject: subjectOf(ev),
		Time: ev.At.UTC(), ContentType: "application/json", Data: ev,
	}
}

// subjectOf is what an event is about: its target, else its server, else its agent.
func subjectOf(ev api.EventRecord) string {
	switch {
	case ev.Target != nil:
		return ev.Target.String()
	case ev.Server != "":
		return events.Target(resource.KindServer, ev.Server)
	case ev.Agent != events.HubName:
		return events.Target(resource.KindAgent, ev.Agent)
	}
	return ""
}

func gapOf(source string, after, upTo uint64, now time.Time) *item {
	return &item{index: upTo, filed: now, cloudEvent: cloudEvent{
		SpecVersion: "1.0", ID: fmt.Sprintf("gap-%d-%d", after, upTo), Source: source, Type: typeGap,
		Time: now.UTC(), ContentType: "application/json", Data: gap{after, upTo},
	}}
}

func testOf(source, id string, now time.Time) cloudEvent {
	return cloudEvent{
		SpecVersion: "1.0", ID: "test-" + id, Source: source, Type: typeTest,
		Time: now.UTC(), ContentType: "application/json", Data: struct{}{},
	}
}
