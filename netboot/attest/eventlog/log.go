package eventlog

import (
	"fmt"
	"slices"

	"rackboot/protocol"
)

// Bounds of a log. The longest of real machines that were seen have 90 KiB and 250
// events; firmware's area for it has 64 KiB by default.
const (
	MaxSize       = 1 << 20
	maxEvents     = 8192
	maxAlgorithms = 8 // banks that a TPM has at once: HASH_COUNT of the reference code is 4
	maxPCR        = 23
)

// Log is a parsed log. Its slices are parts of what was parsed.
type Log struct {
	Banks  []Algorithm // for which each event has a digest, as the header says
	Vendor []byte      // of the header: anything
	Events []Event     // without the header
}

// Event is a TCG_PCR_EVENT2 (PFP 1.06 section 10.2.2).
type Event struct {
	PCR     int // 0 to 23
	Type    Type
	Digests []Digest
	Data    []byte
}

// Digest is what an event extended one bank by.
type Digest struct {
	Bank  Algorithm
	Value []byte
}

// Digest is what the event extended a bank by; nil where it has no digest for it.
func (e Event) Digest(bank Algorithm) []byte {
	for _, d := range e.Digests {
		if d.Bank == bank {
			return d.Value
		}
	}
	return nil
}

// Extended reports whether the event went into a PCR: EV_NO_ACTION does not (PFP 1.06
// section 10.4.1).
func (e Event) Extended() bool { return e.Type != NoAction }

// Parse reads a log: one header for all banks, and events to its last byte. A log of
// SHA-1 only, as a TPM 1.2 has it, is refused. The error has the code invalid.
func Parse(raw []byte) (*Log, error) {
	const op = "read event log"
	if len(raw) > MaxSize {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the event log has %d bytes; more than %d are not read", len(raw), MaxSize)
	}
	c := &cursor{rest: raw}
	log, err := parseHeader(c)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the event log's header %w", err)
	}
	for len(c.rest) > 0 {
		if len(log.Events) == maxEvents {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the event log has more than %d events", maxEvents)
		}
		e, err := log.parseEvent(c)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "event %d of the event log %w", len(log.Events), err)
		}
		log.Events = append(log.Events, e)
	}
	return log, nil
}

// parseEvent reads one event. Errors are words that follow "event 3 of the event log".
func (l *Log) parseEvent(c *cursor) (Event, error) {
	pcr, kind, count := c.uint32(), Type(c.uint32()), c.uint32()
	if c.short {
		return Event{}, fmt.Errorf("is cut off")
	}
	// What is not extended may name any PCR (PFP 1.06 section 10.4.1).
	if pcr > maxPCR && kind != NoAction {
		return Event{}, fmt.Errorf("is of PCR %d, of which there are 0 to %d", pcr, maxPCR)
	}
	if int64(count) != int64(len(l.Banks)) {
		return Event{}, fmt.Errorf("has %d digests, and the header names %d algorithms", count, len(l.Banks))
	}
	e := Event{PCR: int(min(pcr, maxPCR)), Type: kind, Digests: make([]Digest, 0, count)}
	for range count {
		bank := Algorithm(c.uint16())
		if !l.has(bank) {
			return Event{}, fmt.Errorf("has a digest of %s, which the header does not name", bank)
		}
		if e.Digest(bank) != nil {
			return Event{}, fmt.Errorf("has two digests of %s", bank)
		}
		value := c.bytes(bank.Size())
		if c.short {
			return Event{}, fmt.Errorf("is cut off")
		}
		e.Digests = append(e.Digests, Digest{bank, value})
	}
	if e.Data = c.sized(); c.short {
		return Event{}, fmt.Errorf("is cut off, or its data is longer than the log")
	}
	return e, nil
}

func (l *Log) has(bank Algorithm) bool {
	return slices.Contains(l.Banks, bank)
}
