package attest

import (
	"bytes"
	"slices"

	"rackboot/netboot/attest/eventlog"
)

// boot holds what a log says, of PCRs whose values are proved, against what was expected.
type boot struct {
	x      Expectation
	events map[int][]event // by PCR
	found  []Difference
}

// event is one that was extended.
type event struct {
	number  int // in the log
	digest  []byte
	covered []byte // what the digest is known to be of; nil otherwise
	whole   bool   // covered is all the data
	claim   string // what the log calls it
}

func (b *boot) add(d Difference) { b.found = append(b.found, d) }

// read sorts the events of judged PCRs.
func (b *boot) read(log *eventlog.Log) {
	judged := b.x.PCRs()
	for i, e := range log.Events {
		if !e.Extended() || !slices.Contains(judged, e.PCR) {
			continue
		}
		ev := event{number: i, digest: e.Digest(b.x.Bank), claim: e.Text()}
		var binding eventlog.Binding
		ev.covered, binding = e.Binding(b.x.Bank)
		ev.whole = binding == eventlog.Whole
		b.events[e.PCR] = append(b.events[e.PCR], ev)
	}
}

// phases extends PCR 11 by what systemd measured after firmware's log had ended, as long as
// it is what may be; it reports whether it is.
func (b *boot) phases(values *eventlog.PCRs, measured []string) bool {
	if b.x.Sections == nil {
		return true
	}
	h, _ := b.x.Bank.Hash() // Replay has looked
	for i, phase := range measured {
		if i >= len(b.x.Phases) || phase != b.x.Phases[i] {
			b.add(Difference{Code: OtherPhase, PCR: 11, Event: -1})
			return false
		}
		sum := h.New()
		sum.Write([]byte(phase))
		word := sum.Sum(nil)
		sum.Reset()
		sum.Write(values[11])
		sum.Write(word)
		values[11] = sum.Sum(nil)
	}
	return true
}

// judge holds a PCR, whose value is proved, against what was expected of it.
func (b *boot) judge(pcr int) {
	switch pcr {
	case 1:
		if b.x.BootOption != nil {
			b.bootOption()
		}
	case 4:
		b.images()
	case 7:
		if b.x.SecureBoot {
			b.secureBoot()
		}
	case 8:
		if b.x.Commands != nil {
			b.within(8, b.x.Commands, OtherCommand)
		}
	case 9:
		if b.x.Files != nil {
			b.within(9, b.x.Files, OtherFile)
		}
	case 11:
		if b.x.Sections != nil {
			b.sections()
		}
	case 12:
		if b.x.Sections != nil {
			b.within(12, b.x.Parameters, OtherCommandLine)
		}
	case 13:
		if b.x.Sections != nil {
			b.within(13, nil, OtherExtension)
		}
	}
}

// within holds every event of a PCR against items, in any order; each has to be there that is
// not optional.
func (b *boot) within(pcr int, items []Item, code Code) {
	seen := make([]bool, len(items))
	for _, e := range b.events[pcr] {
		known := false
		for i, item := range items {
			if bytes.Equal(item.Digest, e.digest) {
				seen[i], known = true, true
			}
		}
		if !known {
			b.add(Difference{Code: code, PCR: pcr, Event: e.number, Name: e.claim, Seen: e.digest})
		}
	}
	for i, item := range items {
		if !seen[i] && !item.Optional {
			b.add(Difference{Code: code, PCR: pcr, Event: -1, Name: item.Name, Expected: item.Digest})
		}
	}
}

// separator reports whether an event is one, as its digest proves.
func (e event) separator() bool { return e.whole && eventlog.IsSeparator(e.covered) }

// bootOption looks for the expected one among what was measured before firmware ended: which of
// them it booted, the image says.
func (b *boot) bootOption() {
	for _, e := range b.events[1] {
		if e.separator() {
			break
		}
		if bytes.Equal(e.digest, b.x.BootOption) {
			return
		}
	}
	b.add(Difference{Code: OtherBootOption, PCR: 1, Event: -1, Expected: b.x.BootOption})
}
