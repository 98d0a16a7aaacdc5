package plan

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// orphanRule says whether a server is orphaned: its agent has records of an owner that did not let it
// go, and this hub knows of nobody who owns it. It was lost here, or was never known.
//
//	unreleased | owned | orphaned
//	yes        | no    | yes
//	*          | *     | no
//
// A new owner that is stored for the server is somebody's word on it: what that may install waits for
// another one, see firstRule.
func orphanRule(unreleased, owned bool) bool { return unreleased && !owned }

// Orphaned is the condition of a server that is orphaned; nil of others. r is what its agent says of it;
// nil is nothing.
func Orphaned(f Fleet, server string, r *resource.ServerReport) *resource.ConditionState {
	owned := f.ClaimOf(server) != nil || f.MaintenanceOf(server) != nil || f.DiscoveryOf(server) != nil
	if r == nil || !orphanRule(r.Unreleased != nil, owned) {
		return nil
	}
	u := r.Unreleased
	what := "that image " + u.ImageDigest + " is installed"
	if u.Attempt != "" {
		what = fmt.Sprintf("of a boot of image %s, which is %s", u.ImageDigest, u.Attempt)
	}
	return &resource.ConditionState{
		Code: resource.CondOrphaned, Since: u.At,
		Message: fmt.Sprintf("its agent has a record of %s %s, for an owner %s that this hub does not know", u.At.UTC().Format(time.RFC3339), what, u.OwnerUID),
	}
}
