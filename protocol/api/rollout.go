package api

import (
	"context"
	"net/http"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// RolloutCommand is what somebody says to the roll-out of a server group, or of an upgrade of agents.
type RolloutCommand string

// The commands.
const (
	RolloutPause  RolloutCommand = "pause"  // begins nothing more
	RolloutResume RolloutCommand = "resume" // goes on, and tries again what has failed
	RolloutAbort  RolloutCommand = "abort"  // ends it as it is
	RolloutNext   RolloutCommand = "next"   // begins the next wave now
)

// rolloutCommands lists the commands.
var rolloutCommands = []RolloutCommand{RolloutPause, RolloutResume, RolloutAbort, RolloutNext}

// RolloutRequest is a command to the roll-out of a server group, or of an upgrade of agents. Reason is needed.
type RolloutRequest struct {
	Command RolloutCommand `json:"command" enum:"pause,resume,abort,next"`
	Reason  string         `json:"reason"`
}

// Check says what is wrong with a request; invalid.
func (r RolloutRequest) Check() error {
	const op = "command roll-out"
	switch {
	case !slices.Contains(rolloutCommands, r.Command):
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not pause, resume, abort or next", r.Command).WithHint("say one of these")
	case r.Reason == "" || len(r.Reason) > maxGroupReason:
		return protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", maxGroupReason).WithHint("add --reason REASON")
	}
	return nil
}

// PathRollout is the route of a command to the roll-out of a group.
func PathRollout(name string) string { return pathGroup(name, "rollout") }

// PathUpgradeRollout is the route of a command to the roll-out of an upgrade of agents.
func PathUpgradeRollout(name string) string {
	return PathObject(resource.KindAgentUpgrade, name) + "/rollout"
}

// Rollouts are the commands of roll-outs.
type Rollouts struct{ hub *hub }

// Command says a command to the roll-out of a server group. The codes are those of
// the hub: invalid, not_found, conflict (it is not such that it can be done), denied,
// unavailable, timeout.
func (c Rollouts) Command(ctx context.Context, name string, r RolloutRequest) (out GroupAnswer, err error) {
	return out, c.hub.call(ctx, http.MethodPost, PathRollout(name), r, &out)
}

// CommandUpgrade says a command to the roll-out of an upgrade of agents. The codes are as of Command.
func (c Rollouts) CommandUpgrade(ctx context.Context, name string, r RolloutRequest) (*resource.AgentUpgrade, error) {
	out := &resource.AgentUpgrade{}
	return out, c.hub.call(ctx, http.MethodPost, PathUpgradeRollout(name), r, out)
}
