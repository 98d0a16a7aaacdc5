package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// GroupAction is what somebody does about a server group.
type GroupAction string

// The actions.
const (
	GroupAdopt  GroupAction = "adopt"  // gives up an image of the owner's own
	GroupAck    GroupAction = "ack"    // ends a hot loop
	GroupPin    GroupAction = "pin"    // keeps the current revision
	GroupUnpin  GroupAction = "unpin"  // lets the catalogue go on
	GroupRevert GroupAction = "revert" // returns to an older revision
)

// GroupRequest is an action on a group. Reason is needed.
type GroupRequest struct {
	Reason string `json:"reason"`
	// Revision is the one to return to; 0 is the last verified one before the current with another
	// image, of no entry that the group rejects. For
	// a pin it is the one that is expected to be current; 0 is any.
	Revision int `json:"revision,omitempty"`
	// DryRun says what would be, and changes nothing. For a return only.
	DryRun bool `json:"dryRun,omitempty"`
	// Forgive forgets the entries that the group rejects too. For an unpin only.
	Forgive bool `json:"forgive,omitempty"`
}

// maxGroupReason bounds a reason in bytes.
const maxGroupReason = 1024

// Check says what is wrong with a request; invalid.
func (r GroupRequest) Check(action GroupAction) error {
	op := string(action) + " group"
	switch {
	case r.Reason == "" || len(r.Reason) > maxGroupReason:
		return protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", maxGroupReason).WithHint("add --reason REASON")
	case r.Revision < 0 || r.Revision != 0 && action != GroupRevert && action != GroupPin:
		return protocol.Errorf(protocol.CodeInvalid, op, "revision %d is not for it", r.Revision).WithHint("leave it out")
	case r.DryRun && action != GroupRevert, r.Forgive && action != GroupUnpin:
		return protocol.Errorf(protocol.CodeInvalid, op, "dryRun is for a return, and forgive for an unpin").WithHint("leave it out")
	}
	return nil
}

// GroupChange is one field in which two revisions differ.
type GroupChange struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// GroupAnswer is a group after an action, with what a return changes.
type GroupAnswer struct {
	Group *resource.ServerGroup `json:"group"`
	// Unchanged says that there was nothing to do: the group is as it was.
	Unchanged bool `json:"unchanged,omitempty"`
	// Revision is the one that was made, or with a dry run would be; 0 is none.
	Revision int `json:"revision,omitempty"`
	CopyOf   int `json:"copyOf,omitempty"`
	// Skipped are the revisions that a return without a number passed over, because the group
	// rejects their entries.
	Skipped []int         `json:"skipped,omitempty"`
	Changes []GroupChange `json:"changes,omitempty"`
}

// GroupDiff is how two revisions of a group differ.
type GroupDiff struct {
	Group   string        `json:"group"`
	From    int           `json:"from"`
	To      int           `json:"to"`
	Changes []GroupChange `json:"changes"`
}

// The parameters of a difference: 0 is the current revision, and the one before it.
const (
	QueryFrom = "from"
	QueryTo   = "to"
)

// pathGroup is the route of an action on a group, or of diff.
func pathGroup(name, action string) string {
	return PathObject(resource.KindServerGroup, name) + "/" + action
}

// Groups are the commands of server groups.
type Groups struct{ hub *hub }

// Command does something about a group. The codes are those of the hub: invalid, not_found,
// conflict, denied, unavailable, timeout.
func (g Groups) Command(ctx context.Context, name string, action GroupAction, r GroupRequest) (out GroupAnswer, err error) {
	return out, g.hub.call(ctx, http.MethodPost, pathGroup(name, string(action)), r, &out)
}

// Diff reads how two revisions differ.
func (g Groups) Diff(ctx context.Context, name string, from, to int) (out GroupDiff, err error) {
	q := url.Values{QueryFrom: {strconv.Itoa(from)}, QueryTo: {strconv.Itoa(to)}}
	return out, g.hub.call(ctx, http.MethodGet, pathGroup(name, "diff")+"?"+q.Encode(), nil, &out)
}
