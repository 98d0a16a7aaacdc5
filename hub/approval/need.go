package approval

import (
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// maxTargets bounds the names of an approval's targets, and of their boots, in bytes:
// signed, it travels in the hold document.
const maxTargets = 4 << 10

// Need is an action that waits for an approval.
type Need struct {
	Class  resource.ApprovalClass
	Rack   string
	Target string
	// Boot is what the target may boot; nil for classes that allow no boot.
	Boot *resource.ApprovedBoot
	// Subject is what asks; nil where that is the target alone.
	Subject *resource.ApprovalSubject
	Asked   []string
	Reason  string
}

// Open adds needs to the requests of one rack and class, and returns those that are
// new or have changed. Requests that somebody has granted are not changed any more: who
// granted has read their targets. fresh makes a request that is empty.
func Open(have []resource.ApprovalRequest, needs []Need, fresh func(Need) (resource.ApprovalRequest, bool)) (changed []resource.ApprovalRequest) {
	have = slices.Clone(have)
	dirty := map[int]bool{}
	for _, n := range needs {
		if slices.ContainsFunc(have, func(r resource.ApprovalRequest) bool { return !r.State.Over() && Covers(r.Approval, n) }) {
			continue
		}
		at := slices.IndexFunc(have, func(r resource.ApprovalRequest) bool { return takes(r, n) })
		if at < 0 {
			r, ok := fresh(n)
			if !ok {
				break // there is no room for more
			}
			have = append(have, r)
			at = len(have) - 1
		}
		r := &have[at]
		if !dirty[at] {
			r.Version++
			r.Targets, r.Boots, r.Asked = slices.Clone(r.Targets), slices.Clone(r.Boots), slices.Clone(r.Asked)
		}
		dirty[at] = true
		r.Targets = append(r.Targets, n.Target)
		slices.Sort(r.Targets)
		if n.Boot != nil {
			r.Boots = append(r.Boots, *n.Boot)
			slices.SortFunc(r.Boots, func(a, b resource.ApprovedBoot) int { return strings.Compare(a.Server, b.Server) })
		}
		for _, who := range n.Asked {
			if !slices.Contains(r.Asked, who) {
				r.Asked = append(r.Asked, who)
			}
		}
		slices.Sort(r.Asked)
	}
	for i := range have {
		if dirty[i] {
			changed = append(changed, have[i])
		}
	}
	return changed
}

// Covers says whether an approval of the need's class allows what is needed.
func Covers(a resource.Approval, n Need) bool {
	return slices.Contains(a.Targets, n.Target) && (n.Boot == nil || slices.Contains(a.Boots, *n.Boot))
}

// takes says whether a request can take another target.
func takes(r resource.ApprovalRequest, n Need) bool {
	size := len(n.Target)
	if n.Boot != nil {
		size += lengthOf(*n.Boot)
	}
	for _, t := range r.Targets {
		size += len(t)
	}
	for _, b := range r.Boots {
		size += lengthOf(b)
	}
	return !slices.Contains(r.Targets, n.Target) && r.State == resource.ApprovalPending && len(r.By) == 0 && r.Class == n.Class && r.Rack == n.Rack &&
		(r.Class == resource.ApproveBulkStop || r.Reason == n.Reason && sameSubject(r.Subject, n.Subject)) &&
		len(r.Targets) < resource.MaxApprovalTargets && size <= maxTargets
}

func sameSubject(a, b *resource.ApprovalSubject) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func lengthOf(b resource.ApprovedBoot) int {
	return len(b.Server) + len(b.Owner) + len(b.BootEnv) + len(b.Image) + len(b.Settings)
}
