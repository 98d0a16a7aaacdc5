package attest

import "bytes"

// smallestImage is less than the headers of any PE image have, in bytes: what is known to be the
// hash of less, is that of no program.
const smallestImage = 64

// note reports whether an event is firmware's word about itself, a separator or an action, and
// cannot be the hash of a program under another name.
func (e event) note() bool { return e.whole && len(e.covered) < smallestImage }

// images holds PCR 4 against the chain of programs. Everything that was started counts, also what
// returned: a program that ran first could have measured the rest itself.
func (b *boot) images() {
	next := 0 // of the expected
	started := false
	for _, e := range b.events[4] {
		if e.note() {
			continue
		}
		started = true
		if next > 0 && bytes.Equal(b.x.Images[next-1].Digest, e.digest) {
			continue // GRUB has shim verify what it starts, and each of the two measures it
		}
		at := next
		for at < len(b.x.Images) && b.x.Images[at].Optional && !bytes.Equal(b.x.Images[at].Digest, e.digest) {
			at++
		}
		if at < len(b.x.Images) && bytes.Equal(b.x.Images[at].Digest, e.digest) {
			next = at + 1
			continue
		}
		d := Difference{Code: OtherImage, PCR: 4, Event: e.number, Name: e.claim, Seen: e.digest}
		if next < len(b.x.Images) {
			d.Expected = b.x.Images[next].Digest
		}
		b.add(d)
		return // what another program measured says nothing
	}
	if !started {
		b.add(Difference{Code: NoImageMeasured, PCR: 4, Event: -1})
		return
	}
	for _, i := range b.x.Images[next:] {
		if !i.Optional {
			b.add(Difference{Code: MissingImage, PCR: 4, Event: -1, Name: i.Name, Expected: i.Digest})
		}
	}
}
