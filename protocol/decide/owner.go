package decide

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A server has one owner at a time: its claim, a maintenance or a discovery. The intent
// names it by UID, and what is recorded is by UID and generation, so that one owner's
// record survives the next owner.

// always says whether the boot is from the network at each power-on: a maintenance
// never comes up in the installed system (metal-operator 938).
func always(b *message.BootIntent) bool {
	return b.BootPolicy.Boot == resource.BootNetwork || b.Owner.Kind.Or() == resource.PurposeMaintenance
}

// runsFor is for whom a server that is On was powered on.
type runsFor string

const (
	runsThis   runsFor = "this"   // the intent's owner
	runsOther  runsFor = "other"  // an owner before
	runsNobody runsFor = "nobody" // no owner, or it is not known
)

func (r *Record) runsFor(owner string) runsFor {
	switch b := r.Booted; {
	case b == nil || b.OwnerUID == "":
		return runsNobody
	case b.OwnerUID == owner:
		return runsThis
	}
	return runsOther
}

// takeRule says whether a server that is On is stopped because its owner did not boot
// it. The first row that fits decides.
//
//	runs for | done | cycle | stops
//	other    | *    | *     | yes
//	this     | *    | *     | no
//	nobody   | yes  | *     | no
//	nobody   | no   | yes   | yes
//	nobody   | no   | no    | no
//
// done is that the owner's system is installed: it may well be what runs. cycle is the
// intent's powerCycle.
func takeRule(r runsFor, done, cycle bool) bool {
	return r == runsOther || r == runsNobody && !done && cycle
}

// takesKind says whether a report of the kind ends a boot of the purpose well.
//
//	purpose     | always | report     | ends it
//	discovery   | *      | discovered | yes
//	discovery   | *      | *          | no
//	*           | *      | installed  | yes
//	*           | yes    | booted     | yes
//	*           | *      | *          | no
//
// A system that is installed to the disk and says that it runs is the installer, as far
// as anybody knows.
func takesKind(purpose resource.Purpose, always bool, kind protocol.EvidenceKind) bool {
	if purpose == resource.PurposeDiscovery {
		return kind == protocol.EvidenceDiscovered
	}
	return kind == protocol.EvidenceInstalled || always && kind == protocol.EvidenceBooted
}

// ProvisionedFor is the record of an owner's configuration, or nil.
func (r *Record) ProvisionedFor(uid string, generation uint64) *resource.Provisioned {
	if p := r.Owners.Provisioned; p != nil && p.OwnerUID == uid && p.Generation == generation {
		return p
	}
	if p, ok := r.Owners.Earlier[provisionKey(uid, generation)]; ok {
		return &p
	}
	return nil
}

// provision files a record; that of another configuration is kept.
func (r *Record) provision(n resource.Provisioned) {
	if was := r.Owners.Provisioned; was != nil && (was.OwnerUID != n.OwnerUID || was.Generation != n.Generation) {
		if r.Owners.Earlier = maps.Clone(r.Owners.Earlier); r.Owners.Earlier == nil {
			r.Owners.Earlier = map[string]resource.Provisioned{}
		}
		r.Owners.Earlier[provisionKey(was.OwnerUID, was.Generation)] = *was
	}
	r.Owners.Provisioned = &n
}

// maxOwners is of how many owners that have let the server go it keeps what was granted
// and recorded.
const maxOwners = 32

// forgetOwners notes that an owner has let the server go, and drops the oldest of what
// such owners have left, past maxOwners. They are kept that long because a hub that was
// restored from an old backup may name one again: its grant is to be found spent (P4).
// What belongs to an owner that only waits, a claim under a maintenance, stays.
func (r *Record) forgetOwners(owner string) {
	var over []string
	r.Owners.Used, r.Owners.Earlier = maps.Clone(r.Owners.Used), maps.Clone(r.Owners.Earlier)
	for key, use := range r.Owners.Used {
		if uid, _, _ := strings.Cut(key, "/"); uid == owner {
			use.Over = true
			r.Owners.Used[key] = use
		}
		if use.Over {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, func(a, b string) int {
		return cmp.Or(r.Owners.Used[a].At.Compare(r.Owners.Used[b].At), cmp.Compare(a, b))
	})
	for _, key := range over[:max(0, len(over)-maxOwners)] {
		delete(r.Owners.Used, key)
		delete(r.Owners.Earlier, key)
	}
}
