package dhcp6

import (
	"crypto/sha256"
	"time"
)

// holder is one identity association of one client: a digest of its DUID, whose length
// is the client's choice, and its IAID.
type holder [sha256.Size]byte

// maxHolders bounds those of one address. Firmware has two, and a system one.
const maxHolders = 8

// holders are the identity associations that have a machine's one address, and until
// when. EDK2's IPv6 driver asks for an address by itself where router advertisements
// have the flag M, gets the one that HTTP boot has, and releases it while the boot file
// is being loaded. After a restart nobody knows them.
type holders map[holder]time.Time

// grant notes that a holder has the address.
func (h *holders) grant(who holder, until time.Time) {
	if *h == nil {
		*h = holders{}
	}
	(*h)[who] = until
	for len(*h) > maxHolders {
		first := who
		for other, at := range *h {
			if at.Before((*h)[first]) {
				first = other
			}
		}
		delete(*h, first)
	}
}

// release notes that a holder has it no more, and says whether somebody still does.
func (h holders) release(who holder, now time.Time) (held bool) {
	delete(h, who)
	for _, until := range h {
		held = held || now.Before(until)
	}
	return held
}
