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
	Voided      []Voiding // receipts that count no more, by why
	Escalations int       // soft stops that became hard
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
