package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Identity names a board and its interfaces.
type Identity struct {
	Serial string   `json:"serial,omitempty"`
	UUID   string   `json:"uuid,omitempty"` // empty if it identifies nothing
	MACs   []string `json:"macs,omitempty"` // of the host's own interfaces, sorted
}

// IdentityOf reads the identity out of an inventory; false if nothing identifies the
// server, or a part could not be read that may name an interface.
func IdentityOf(inv protocol.Inventory) (Identity, bool) {
	// Whatever of these fails, a MAC address may be missing. What a BMC does not have
	// at all, it never has.
	parts := []string{"EthernetInterfaces", "NetworkAdapters", "NetworkDeviceFunctions", "BootOptions", "Chassis", "Managers"}
	never := []protocol.Code{protocol.CodeNotFound, protocol.CodeInvalid, protocol.CodeUnsupported}
	for _, p := range inv.Problems {
		if slices.Contains(parts, p.Part) && !slices.Contains(never, p.Code) {
			return Identity{}, false
		}
	}
	id := Identity{Serial: inv.Serial, MACs: inv.MACs()}
	if inv.UUIDProblem == "" {
		id.UUID = inv.UUID
	}
	slices.Sort(id.MACs)
	id.MACs = slices.Compact(id.MACs)
	return id, id.Serial != "" || id.UUID != "" || len(id.MACs) > 0
}

// Digest is the identity as it is reported and accepted: sha256:<hex>.
func (i Identity) Digest() string {
	raw, err := json.Marshal(i)
	if err != nil {
		return "" // strings only: it does not fail
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// with fills what is empty in i from o: a BMC that shows no interface while the
// server is Off does not show another board.
func (i Identity) with(o Identity) Identity {
	if i.Serial == "" {
		i.Serial = o.Serial
	}
	if i.UUID == "" {
		i.UUID = o.UUID
	}
	if len(i.MACs) == 0 {
		i.MACs = o.MACs
	}
	return i
}

// differences are what o shows otherwise than i; what either does not show is not
// compared.
func (i Identity) differences(o Identity) string {
	var out []string
	say := func(what, was, is string) {
		if was != "" && is != "" && was != is {
			out = append(out, fmt.Sprintf("%s %s became %s", what, was, is))
		}
	}
	say("serial number", i.Serial, o.Serial)
	say("UUID", i.UUID, o.UUID)
	say("MAC addresses", strings.Join(i.MACs, " "), strings.Join(o.MACs, " "))
	return strings.Join(out, "; ")
}

// Known is the identity that a server is known by.
type Known struct {
	// Trusted is the first that was read, or the last that was accepted. It is empty
	// where another one was accepted than is read, by an agent that lost its disk.
	Trusted Identity `json:"trusted"`
	// Other is another one that was read since, and not accepted.
	Other *Identity `json:"other,omitempty"`
	Why   string    `json:"why,omitempty"` // in what Other differs
	At    time.Time `json:"at"`            // of the last change
}

// Digest is what is reported: the identity that was read last.
func (k *Known) Digest() string {
	switch {
	case k == nil:
		return ""
	case k.Other != nil:
		return k.Other.Digest()
	}
	return k.Trusted.Digest()
}

// Change is what is reported of an identity that is not trusted; nil where there is none.
func (k *Known) Change() *resource.IdentityChange {
	if k == nil || k.Other == nil {
		return nil
	}
	board := func(i Identity) resource.BoardIdentity {
		return resource.BoardIdentity{Serial: i.Serial, UUID: i.UUID, MACs: i.MACs}
	}
	return &resource.IdentityChange{Was: board(k.Trusted), Is: board(*k.Other), At: k.At}
}

// clone copies what a step may change.
func (k *Known) clone() *Known {
	if k == nil {
		return nil
	}
	c := *k
	return &c
}

// identified is how an identity that was read compares with what is known.
type identified string

const (
	identifiedFirst identified = "first" // nothing is known yet
	identifiedSame  identified = "same"  // as far as both show
	identifiedOther identified = "other"
)

// identityRule says which identity is trusted. accepted is what an operator accepted:
// nothing, the one that was read, or another. The first row that fits decides.
//
//	read  | accepted | answer
//	same  | *        | trust
//	first | another  | change
//	first | *        | trust
//	other | this     | trust
//	other | *        | change
//
// An acceptance counts for the identity that it names, whenever it comes.
func identityRule(i identified, accepted string) string {
	const trust, change = "trust", "change"
	switch {
	case i == identifiedSame:
		return trust
	case i == identifiedFirst && accepted == "another":
		return change
	case i == identifiedFirst, accepted == "this":
		return trust
	}
	return change
}
