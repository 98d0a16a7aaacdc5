package decide

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// Claimant is a boot client that says it is a server, as it described itself. On a boot
// segment anybody can say so.
type Claimant struct {
	MAC string `json:"mac,omitempty"`
	// UUID is DHCPv4 option 97; empty where none came.
	UUID string `json:"uuid,omitempty"`
	// CPU is the family that all types of option 93 have; empty where none came, or several.
	CPU string `json:"cpu,omitempty"`
	// Port is where a relay saw it.
	Port    string               `json:"port,omitempty"`
	Class   protocol.ClientClass `json:"class"`
	Address netip.Addr           `json:"address,omitzero"` // that it had; invalid before its first
	At      time.Time            `json:"at"`
}

// ClaimantOf is how a boot client described itself.
func ClaimantOf(c protocol.BootClient, at time.Time) Claimant {
	return Claimant{MAC: c.MAC, UUID: c.UUID, CPU: familyOf(c.Archs), Port: c.Port, Class: c.Class, Address: c.Address, At: at}
}

// familyOf is the one family of processors that all types name; empty where they name
// none, or several. The types of one machine differ by stage: firmware says UEFI, an
// option ROM BIOS.
func familyOf(archs []uint16) (family string) {
	for _, n := range archs {
		a, ok := protocol.ArchOf(n)
		if !ok {
			continue
		}
		if is := familyOfCPU(a.CPU); family != "" && family != is {
			return ""
		} else {
			family = is
		}
	}
	return family
}

func familyOfCPU(cpu string) string {
	if cpu == "386" || cpu == "amd64" {
		return "x86"
	}
	return cpu
}

// String is the claimant for people.
func (c Claimant) String() string {
	var words []string
	say := func(what, is string) {
		if is != "" {
			words = append(words, what+" "+is)
		}
	}
	say("MAC", c.MAC)
	say("UUID", c.UUID)
	say("processor", c.CPU)
	say("port", c.Port)
	say("class", string(c.Class))
	if c.Address.IsValid() && !c.Address.IsUnspecified() {
		say("address", c.Address.String())
	}
	say("at", c.At.UTC().Format(time.RFC3339))
	return strings.Join(words, ", ")
}

// System is what is known of a server that its firmware shows too.
type System struct {
	// UUIDs are those that it may send; none where nothing trustworthy is known.
	UUIDs []string
	// Architecture is amd64 or arm64; empty is not known.
	Architecture string
	// Port is where a relay is to see it; empty is not known.
	Port string
}

// fits reports whether what the claimant sent agrees with what is known. What it did not
// send, or what is not known, is no difference.
func (s System) fits(c Claimant) bool {
	known := func(uuid string) bool { return protocol.SameUUID(uuid, c.UUID) }
	switch {
	case c.UUID != "" && len(s.UUIDs) > 0 && !slices.ContainsFunc(s.UUIDs, known):
		return false
	case c.CPU != "" && s.Architecture != "" && c.CPU != familyOfCPU(s.Architecture):
		return false
	case c.Port != "" && s.Port != "" && c.Port != s.Port:
		return false
	}
	return true
}

// compared is how a claimant compares with the one before it.
type compared string

const (
	comparedNone    compared = "none"    // there is none before it
	comparedSame    compared = "same"    // in all that both sent, by the same interface
	comparedAgrees  compared = "agrees"  // in all that both sent, the UUID among it, by another interface
	comparedUnknown compared = "unknown" // by another interface, and no UUID says whose it is
	comparedDiffers compared = "differs" // in something that both sent
	comparedLess    compared = "less"    // it did not send what the one before did
)

// compare compares a claimant with the one before it.
func (c Claimant) compare(before *Claimant) compared {
	if before == nil {
		return comparedNone
	}
	differs := func(a, b string) bool { return a != "" && b != "" && a != b }
	uuids := c.UUID != "" && before.UUID != ""
	switch {
	case uuids && !protocol.SameUUID(c.UUID, before.UUID), differs(c.CPU, before.CPU), differs(c.Port, before.Port):
		return comparedDiffers
	case differs(c.MAC, before.MAC) && uuids:
		return comparedAgrees
	case differs(c.MAC, before.MAC):
		return comparedUnknown
	case (c.UUID == "") != (before.UUID == ""), (c.CPU == "") != (before.CPU == ""):
		return comparedLess
	}
	return comparedSame
}

// Claimed is what a boot client is that says it is a server.
type Claimed string

// What it is.
const (
	// ClaimedFirst is the first of an attempt that fits: the one that is pinned.
	ClaimedFirst Claimed = "first"
	// ClaimedSame is the pinned one, by another interface or in a later stage maybe.
	ClaimedSame Claimed = "same"
	// ClaimedSecond fits too, and is not the pinned one.
	ClaimedSecond Claimed = "second"
	// ClaimedForeign does not fit: the server is known to be another machine.
	ClaimedForeign Claimed = "foreign"
)

// Claim says what a boot client is for an attempt, beside the one that was pinned first;
// nil before there is one. later is that a boot file of the attempt was sent.
func Claim(known System, pin *Claimant, later bool, c Claimant) Claimed {
	stage := later || pin != nil && pin.Class != c.Class
	return claimRule(known.fits(c), c.compare(pin), stage)
}

// claimRule says what a boot client is that says it is a server. The first row that fits
// decides.
//
//	fits | beside the pinned | later | is
//	no   | *                 | *     | foreign
//	yes  | none              | *     | first
//	yes  | same              | *     | same
//	yes  | agrees            | *     | same
//	yes  | less              | yes   | same
//	yes  | unknown           | yes   | same
//	yes  | *                 | *     | second
//
// later is that a boot file was sent, or that the two are of other classes: firmware loads
// iPXE or an installer, which send less, and by another interface of the server maybe.
// Firmware itself asks by one interface after the other, and sends the same by each.
func claimRule(fits bool, c compared, later bool) Claimed {
	switch {
	case !fits:
		return ClaimedForeign
	case c == comparedNone:
		return ClaimedFirst
	case c == comparedSame, c == comparedAgrees, later && (c == comparedLess || c == comparedUnknown):
		return ClaimedSame
	}
	return ClaimedSecond
}

// Claimants are the boot clients that said they are the server of an attempt.
type Claimants struct {
	// Pin is the first that fitted; nil before one came.
	Pin *Claimant `json:"pin,omitempty"`
	// Second is the first that fitted too and was another; nil without one.
	Second *Claimant `json:"second,omitempty"`
	// Foreign is the first that did not fit; nil without one.
	Foreign *Claimant `json:"foreign,omitempty"`
}

// Note takes a claimant, and reports whether that is news.
func (cs *Claimants) Note(is Claimed, c Claimant) bool {
	at := map[Claimed]**Claimant{ClaimedFirst: &cs.Pin, ClaimedSecond: &cs.Second, ClaimedForeign: &cs.Foreign}[is]
	if at == nil || *at != nil {
		return false
	}
	*at = &c
	return true
}

// With are the claimants of both; where both have one, those of the receiver.
func (cs Claimants) With(o Claimants) Claimants {
	return Claimants{Pin: cmp.Or(cs.Pin, o.Pin), Second: cmp.Or(cs.Second, o.Second), Foreign: cmp.Or(cs.Foreign, o.Foreign)}
}

// words says who the two are; empty where nobody disputes that the server is itself.
func (cs Claimants) words() string {
	other, what := cs.Second, "another machine says that it is the server too"
	if other == nil {
		other, what = cs.Foreign, "a machine that does not fit what is known of the server says that it is the server"
	}
	switch {
	case other == nil:
		return ""
	case cs.Pin == nil:
		return fmt.Sprintf("%s: %s; none that fits has asked", what, other)
	}
	return fmt.Sprintf("%s: %s; the first that fitted: %s", what, other, cs.Pin)
}
