package attest

import (
	"bytes"
)

// sections holds PCR 11 against the sections of the unified kernel image, name and data of each
// in the stub's order. It is exact; which section is another one, is said by the names that
// are proved.
func (b *boot) sections() {
	events := b.events[11]
	if b.sameSections(events) {
		return
	}
	before := len(b.found)
	pairs := pairsOf(events)
	for _, s := range b.x.Sections {
		d := Difference{Code: OtherSection, PCR: 11, Event: -1, Name: s.Name, Expected: s.Digest}
		if p, ok := pairs[string(s.NameDigest)]; ok {
			d.Event, d.Seen = p.number, p.digest
		}
		if !bytes.Equal(d.Seen, d.Expected) {
			b.add(d)
		}
	}
	expected := map[string]bool{}
	for _, s := range b.x.Sections {
		expected[string(s.NameDigest)] = true
	}
	for i := 0; i < len(events); i += 2 {
		if e := events[i]; !expected[string(e.digest)] {
			b.add(Difference{Code: OtherSection, PCR: 11, Event: e.number, Name: e.claim, Seen: e.digest})
		}
	}
	if len(b.found) == before { // the same sections in another order, or one twice
		b.add(Difference{Code: Unaccounted, PCR: 11, Event: -1})
	}
}

func (b *boot) sameSections(events []event) bool {
	if len(events) != 2*len(b.x.Sections) {
		return false
	}
	for i, s := range b.x.Sections {
		if !bytes.Equal(events[2*i].digest, s.NameDigest) || !bytes.Equal(events[2*i+1].digest, s.Digest) {
			return false
		}
	}
	return true
}

// pairsOf are the events of sections' data by the digests of their names.
func pairsOf(events []event) map[string]event {
	out := map[string]event{}
	for i := 0; i+1 < len(events); i += 2 {
		out[string(events[i].digest)] = events[i+1]
	}
	return out
}
