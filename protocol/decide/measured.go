package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Measured is what a plan adds to the agent's metrics.
type Measured struct {
	Fenced      []time.Duration // from Enforced to the receipt, for each new one
	Violations  int
	Escalations int // soft stops that became hard
	// Of power-ons: those that ended, the parts that were passed, methods that firmware
	// used in place of the ordered one, and overrides that the BMC did not store.
	Ended      []Ended
	Spans      []Span
	Mismatches []Mismatch
	Overrides  []protocol.BootOutcome
	// Unexpected are transitions without an order, by what showed them; SafeStops are
	// servers that were found to stand.
	Unexpected []protocol.UnexpectedBy
	SafeStops  []protocol.Stands
}

// Ended is how a power-on ended; Code is empty where it succeeded.
type Ended struct {
	Purpose resource.Purpose
	Method  protocol.BootTarget
	Code    resource.AttemptCode
}

// Mismatch is what was ordered and what firmware used.
type Mismatch struct{ Intended, Observed protocol.BootTarget }

// Part is a part of a power-on.
type Part string

// The parts. The last three are of boots from the network.
const (
	PartPrepare       Part = "prepare"           // begun → the override is first written
	PartArm           Part = "arm"               // first written → read back as stored
	PartPowerToDHCP   Part = "power_to_dhcp"     // On first sent → a request by the ordered method
	PartDHCPToFetched Part = "dhcp_to_fetched"   // → the last byte of the last file was sent
	PartFetchToReport Part = "fetched_to_report" // → the report that ends it
)

// Parts lists the parts in order.
func Parts() []Part {
	return []Part{PartPrepare, PartArm, PartPowerToDHCP, PartDHCPToFetched, PartFetchToReport}
}

// Span is how long a part took.
type Span struct {
	Part Part
	Took time.Duration
}

// Marks are the moments of an attempt between which its parts lie; zero is not come to.
type Marks struct {
	Written time.Time `json:"written,omitzero"`
	Armed   time.Time `json:"armed,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`
	Fetched time.Time `json:"fetched,omitzero"`
}

// mark notes that a part is over, once. A moment before it that is not known, or lies
// behind it because the clock was set, makes no span.
func (p *step) mark(at *time.Time, now time.Time, part Part, from time.Time) {
	if !at.IsZero() {
		return
	}
	*at = now
	p.dirty = true
	p.span(part, from, now)
}

func (p *step) span(part Part, from, to time.Time) {
	if took := to.Sub(from); !from.IsZero() && took >= 0 {
		p.plan.Measured.Spans = append(p.plan.Measured.Spans, Span{part, took})
	}
}

// ended notes that the record's attempt ended.
func (p *step) ended() {
	a := p.rec.Attempt
	p.plan.Measured.Ended = append(p.plan.Measured.Ended, Ended{Purpose: a.Purpose.Or(), Method: a.Intended, Code: a.Code})
}
