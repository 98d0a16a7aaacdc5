package plan

import (
	"cmp"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Finding is a BMC as it shall be after what an agent found.
type Finding struct {
	BMC      *resource.BMC
	New      bool
	Accepted bool // by the rule of its segment, now
}

// Findings holds what the agent of a rack found against the rack's BMCs. gone are
// BMCs that wait to be accepted and are the same as an accepted one. left counts
// those that were left out, because resource.MaxFound wait already or no name is
// free.
//
//	known    | rule | becomes
//	no       | no   | Pending
//	no       | yes  | Accepted
//	Pending  | no   | Pending
//	Pending  | yes  | Accepted
//	Accepted | *    | as it is
//
// The rule is that of the segment on which it was found, for leases with one of the
// segment's MAC prefixes. Of an accepted BMC only the address follows, where it has
// none in its spec.
func Findings(f Fleet, rack string, found []resource.FoundBMC) (out []Finding, gone []*resource.BMC, left int) {
	f = f.Indexed()
	book := newBMCBook(f, rack)
	waiting := len(book.pending)
	for _, seen := range newest(found) {
		seg := f.segmentOf(rack, seen.Segment)
		if seg == nil || !seg.Spec.Role.HasBMCs() {
			continue
		}
		b, rule := book.match(seen), ruleFor(seg, seen)
		if book.elsewhere(seen.MAC) {
			rule = nil // an accepted one of another rack: somebody has to look
		}
		var next Finding
		if b != nil {
			own := *b
			next.BMC = &own
		} else {
			next.BMC = book.create(seen)
			if next.New = true; next.BMC == nil || rule == nil && waiting >= resource.MaxFound {
				left++
				continue
			}
			if rule == nil {
				waiting++
			}
		}
		changed := follow(next.BMC, seen)
		if verdict := becomes(known(b), rule != nil); verdict == resource.BMCAccepted && next.BMC.Pending() {
			next.Accepted = true
			accept(next.BMC, rule, seg, seen)
		}
		if next.New {
			book.add(next.BMC)
		}
		if next.New || next.Accepted || changed {
			out = append(out, next)
		}
	}
	for _, p := range book.pending {
		if same := book.accepted(p); same != nil && len(f.behind(p.Metadata.Name)) == 0 {
			gone = append(gone, p)
		}
	}
	return out, gone, left
}

func known(b *resource.BMC) string {
	switch {
	case b == nil:
		return "no"
	case b.Pending():
		return string(resource.BMCPending)
	}
	return string(resource.BMCAccepted)
}

func becomes(known string, rule bool) resource.BMCState {
	if rule || known == string(resource.BMCAccepted) {
		return resource.BMCAccepted
	}
	return resource.BMCPending
}

// ruleFor is the rule that accepts a BMC as it was found, or nil.
func ruleFor(s *resource.Segment, seen resource.FoundBMC) *resource.AcceptRule {
	if s.Spec.BMCs == nil || seen.By != resource.FoundByLease || !s.Spec.BMCs.HasMAC(seen.MAC) {
		return nil
	}
	r := s.Spec.BMCs.Accept
	if r == nil || r.CA == "" && seen.Fingerprint == "" {
		return nil // nothing was shown that could be pinned
	}
	return r
}

func accept(b *resource.BMC, r *resource.AcceptRule, s *resource.Segment, seen resource.FoundBMC) {
	b.Spec.CredentialsRef, b.Spec.TLS = r.CredentialsRef, resource.BMCTLS{CA: r.CA}
	if r.CA == "" {
		b.Spec.TLS.Fingerprint = seen.Fingerprint
	}
	b.Status.State, b.Status.AcceptedBy = resource.BMCAccepted, "segment/"+s.Metadata.Name
}

// follow takes over what decides: the address of a BMC that has none in its spec,
// and the MAC address of one that had none.
func follow(b *resource.BMC, seen resource.FoundBMC) (changed bool) {
	if b.Spec.Address == "" && b.Status.Address != seen.Address {
		b.Status.Address, changed = seen.Address, true
	}
	if changed = changed || b.MAC() == "" && seen.MAC != ""; changed {
		b.Status.Found = &seen
	}
	return changed
}

// newest cleans what an agent says, and keeps the newest of each BMC, in order of
// address.
func newest(found []resource.FoundBMC) []resource.FoundBMC {
	by := map[string]resource.FoundBMC{}
	for _, seen := range found {
		seen, ok := seen.Clean()
		key := seen.MAC
		if key == "" {
			key = seen.Address
		}
		if have, twice := by[key]; ok && (!twice || have.At.Before(seen.At)) {
			by[key] = seen
		}
	}
	out := make([]resource.FoundBMC, 0, len(by))
	for _, seen := range by {
		out = append(out, seen)
	}
	slices.SortFunc(out, func(a, b resource.FoundBMC) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.MAC, b.MAC))
	})
	return out
}

// bmcBook finds the BMCs of one rack by what they were found by.
type bmcBook struct {
	byMAC, byAddress map[string]*resource.BMC
	pending          []*resource.BMC
	rack             string
	fleet            Fleet
	made             map[string]bool // names that were given just now
}

func newBMCBook(f Fleet, rack string) *bmcBook {
	k := &bmcBook{byMAC: map[string]*resource.BMC{}, byAddress: map[string]*resource.BMC{}, rack: rack, fleet: f, made: map[string]bool{}}
	for _, pending := range []bool{false, true} { // an accepted one comes before one that waits
		for _, b := range f.bmcsIn(rack) {
			if b.Pending() == pending {
				k.add(b)
			}
		}
	}
	return k
}

// taken says whether a BMC of any rack has a name.
func (k *bmcBook) taken(name string) bool { return k.made[name] || k.fleet.bmcNamed(name) }

// elsewhere says whether an accepted BMC of another rack has a MAC address.
func (k *bmcBook) elsewhere(mac string) bool {
	if site := k.fleet.Site; site != nil && mac != "" && site.AcceptedElsewhere(mac, k.rack) {
		return true
	}
	return slices.ContainsFunc(k.fleet.index.accepted[mac], func(b *resource.BMC) bool { return b.Spec.RackRef.Name != k.rack })
}

func (k *bmcBook) add(b *resource.BMC) {
	k.made[b.Metadata.Name] = true
	if b.Pending() {
		k.pending = append(k.pending, b)
	}
	if mac := b.MAC(); mac != "" {
		first(k.byMAC, mac, b)
	}
	if at := resource.HostPort(b.Reach()); at != "" {
		first(k.byAddress, at, b)
	}
}

// match is the BMC that was found: by its MAC address, else by its address. A lease
// that was given to another MAC address since is another BMC's.
func (k *bmcBook) match(seen resource.FoundBMC) *resource.BMC {
	if b := k.byMAC[seen.MAC]; seen.MAC != "" && b != nil {
		return b
	}
	b := k.byAddress[resource.HostPort(seen.Address)]
	if b == nil || b.Spec.Address == "" && seen.MAC != "" {
		return nil
	}
	return b
}

// accepted is the accepted BMC that one which waits is the same as, or nil.
func (k *bmcBook) accepted(p *resource.BMC) *resource.BMC {
	b := k.match(resource.FoundBMC{MAC: p.MAC(), Address: p.Reach()})
	if b == nil || b.Pending() {
		return nil
	}
	return b
}

// create makes the BMC; nil if no name is free. One with a lease is followed by its
// MAC address, another stays where it was found: who gives it its address is not
// known.
func (k *bmcBook) create(seen resource.FoundBMC) *resource.BMC {
	name := foundName(seen)
	if k.taken(name) {
		name = nameOf(name + "-" + k.rack)
	}
	if k.taken(name) {
		return nil
	}
	b := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: k.rack}}}
	b.Metadata.Name, b.Status.State, b.Status.Found = name, resource.BMCPending, &seen
	if seen.By == resource.FoundByLease {
		b.Spec.MACAddress = seen.MAC
	} else {
		b.Spec.Address = seen.Address
	}
	b.Default()
	return b
}

func foundName(seen resource.FoundBMC) string {
	if seen.MAC != "" {
		return nameOf("bmc-" + strings.ReplaceAll(seen.MAC, ":", ""))
	}
	return nameOf("bmc-" + strings.TrimSuffix(resource.HostPort(seen.Address), ":443"))
}

// maxName is the most that a name may have.
const maxName = 63

// nameOf makes a name of a text: what names cannot have becomes a hyphen.
func nameOf(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	return strings.Trim(clean[:min(len(clean), maxName)], "-")
}
