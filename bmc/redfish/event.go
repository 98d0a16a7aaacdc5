package redfish

import (
	"rackboot/protocol"
)

// Bounds of an event payload.
const (
	maxEventBytes = 256 << 10
	maxEvents     = 64
)

// Event is one record of an Event resource (DSP0266, eventing), as a webhook
// gets it. It is a reason to read, never evidence.
type Event struct {
	MessageID string // such as Event.1.0.SystemPowerAction
	Kind      string // EventType; deprecated and still all that some send
	Origin    string // OriginOfCondition: a path, not checked
	Time      string // EventTimestamp, by the BMC's clock
}

// ParseEvents reads the body of a webhook or the data of a stream's event,
// leniently: a record of an odd type is left out. It fails with invalid if the
// body is too large or is no event at all. Records beyond a bound are dropped:
// one is enough to wake a poller.
func ParseEvents(body []byte) ([]Event, error) {
	const op = "bmc.event"
	if len(body) > maxEventBytes {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "an event of %d bytes; at most %d are read", len(body), maxEventBytes).
			WithHint("the poll of the BMC goes on without it")
	}
	f := fields(body)
	records := rawsOf(f["Events"])
	if len(records) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the payload holds no Events").
			WithHint("check the address: BMCs send events of Redfish there, and nothing else should")
	}
	var out []Event
	for _, raw := range records {
		r := fields(raw)
		if r == nil || len(out) == maxEvents {
			continue
		}
		origin := linkOf(r["OriginOfCondition"])
		if origin == "" {
			origin = textOf(r["OriginOfCondition"])
		}
		out = append(out, Event{
			MessageID: printable(textOf(r["MessageId"])),
			Kind:      printable(textOf(r["EventType"])),
			Origin:    printable(origin),
			Time:      printable(textOf(r["EventTimestamp"])),
		})
	}
	return out, nil
}
