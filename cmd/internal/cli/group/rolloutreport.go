package group

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// rolloutReport is a roll-out with what is counted of it.
type rolloutReport struct {
	Group   string                 `json:"group"`
	Rollout resource.RolloutStatus `json:"rollout"`
	// States are how many servers are in each state, Waves the same by wave.
	States rollout.Counts   `json:"states"`
	Waves  []rollout.Counts `json:"waves"`
	// Windows are when servers may be begun, in words; empty is always.
	Windows string `json:"windows,omitempty"`
	// Away is why servers that wait may not be there to take, as far as that was asked.
	Away map[string]string `json:"away,omitempty"`
	ToDo []string          `json:"toDo"`
}

// rolloutReportOf counts a group's roll-out, which it must have.
func rolloutReportOf(g *resource.ServerGroup) rolloutReport {
	st := *g.Status.Rollout
	r := rolloutReport{Group: g.Metadata.Name, Rollout: st, States: rollout.Count(st), Windows: windowsText(g.Spec.Rollout)}
	for range max(st.Waves, 1) {
		r.Waves = append(r.Waves, rollout.Counts{})
	}
	for _, m := range st.Members {
		r.Waves[min(max(m.Wave, 0), len(r.Waves)-1)][m.State]++
	}
	r.ToDo = todoText(rolloutTodo(st.Phase, g.Spec.Rollout.Freeze, r.States[resource.MemberFailed] > 0), g)
	return r
}

// ask says of the servers that wait and are named what may keep them from being begun. The
// roll-out does not say it of each: its own reason is why nobody is begun.
func (r *rolloutReport) ask(ctx context.Context, c *api.Client) {
	r.Away = map[string]string{}
	names, _ := named(r.Rollout, false)
	for _, n := range names {
		if m := r.Rollout.Members[n]; m.State != resource.MemberWaiting || m.Reason != "" {
			continue
		}
		s, err := api.Get[*resource.Server](ctx, c, n)
		switch code := protocol.CodeOf(err); {
		case code == protocol.CodeNotFound || code == protocol.CodeDenied:
			r.Away[n] = "not read: " + string(code)
			continue
		case err != nil:
			return // the others would not be read either
		}
		if why := away(s, time.Now()); why != "" {
			r.Away[n] = why
		}
	}
}

// away is why a server may not be there to take; empty for one that serves.
func away(s *resource.Server, now time.Time) string {
	var why []string
	if s.Status.Phase == resource.PhaseMaintenance {
		why = append(why, string(s.Status.Phase))
	}
	if codes := resource.ConditionCodes(s.Status.Conditions, now); codes != "" {
		why = append(why, codes)
	}
	if r := s.Status.Report; r != nil && r.Observation.Power != protocol.PowerOn {
		why = append(why, "power "+printer.Dash(string(r.Observation.Power)))
	}
	return strings.Join(why, ", ")
}

// waveName is what people call a wave.
func waveName(wave int) string {
	if wave == 0 {
		return "canary"
	}
	return fmt.Sprint(wave)
}

// windowsText says when servers may be begun. That a window is closed, and when the next
// one opens, is in the roll-out's reason: the hub's clock decides.
func windowsText(spec resource.RolloutSpec) string {
	var out []string
	if spec.Freeze {
		out = append(out, "frozen")
	}
	for _, w := range spec.Windows {
		days := "daily"
		if len(w.Days) > 0 {
			days = strings.Join(w.Days, ",")
		}
		out = append(out, fmt.Sprintf("%s %s for %s", days, w.Start, w.Duration))
	}
	text := strings.Join(out, "; ")
	if len(spec.Windows) > 0 {
		text += " (" + spec.TimeZone + ")"
	}
	return text
}

// todo is what people are to do about a roll-out.
type todo string

const (
	todoNothing  todo = "nothing"
	todoWait     todo = "wait"
	todoUnfreeze todo = "unfreeze"
	todoResume   todo = "resume"
	todoLook     todo = "look"
	todoRetry    todo = "retry"
	todoUnpin    todo = "unpin"
	todoRevert   todo = "revert"
	todoCorrect  todo = "correct"
	todoUpgrade  todo = "upgrade"
)

// rolloutTodo says what people are to do. The first row that fits decides.
//
//	phase      | frozen | failed | to do
//	Canary     | *      | *      | nothing
//	Wave       | *      | *      | nothing
//	Waiting    | yes    | *      | unfreeze
//	Waiting    | no     | *      | wait
//	Paused     | *      | yes    | look
//	Paused     | *      | no     | resume
//	Completed  | *      | yes    | retry
//	Completed  | *      | no     | nothing
//	Aborted    | *      | *      | revert
//	RolledBack | *      | *      | unpin
//	Failed     | *      | *      | correct
//	Superseded | *      | *      | nothing
//	*          | *      | *      | upgrade
func rolloutTodo(phase resource.RolloutPhase, frozen, failed bool) todo {
	switch phase {
	case resource.RolloutCanary, resource.RolloutWave, resource.RolloutSuperseded:
		return todoNothing
	case resource.RolloutWaiting:
		if frozen {
			return todoUnfreeze
		}
		return todoWait
	case resource.RolloutPaused:
		if failed {
			return todoLook
		}
		return todoResume
	case resource.RolloutCompleted:
		if failed {
			return todoRetry
		}
		return todoNothing
	case resource.RolloutAborted:
		return todoRevert
	case resource.RolloutRolledBack:
		return todoUnpin
	case resource.RolloutFailed:
		return todoCorrect
	}
	return todoUpgrade
}

// todoText is that in words, with the commands.
func todoText(what todo, g *resource.ServerGroup) []string {
	name, st := g.Metadata.Name, g.Status.Rollout
	resume := fmt.Sprintf("rackctl rollout resume %s --reason … goes on, and tries again what has failed", name)
	abort := fmt.Sprintf("rackctl rollout abort %s --reason … ends it as it is", name)
	revert := fmt.Sprintf("rackctl group revert %s --reason … returns to the revision before", name)
	look := "look why servers failed: rackctl describe server SERVER, rackctl trace SERVER"
	switch what {
	case todoNothing:
		return []string{}
	case todoWait:
		out := []string{"see the reason; it goes on by itself when that has ended"}
		if st.Strategy == resource.RolloutReprovision {
			out = append(out, "rackctl approve list shows what it may want approved")
		}
		return out
	case todoUnfreeze:
		return []string{"take spec.rollout.freeze out of the group, and apply it"}
	case todoResume:
		return []string{resume, abort}
	case todoLook:
		return []string{look, resume, abort, revert}
	case todoRetry:
		return []string{look, fmt.Sprintf("rackctl rollout resume %s --reason … tries those again that failed", name)}
	case todoUnpin:
		out := []string{fmt.Sprintf("rackctl group unpin %s --reason … lets it follow the catalogue again, but for what failed", name)}
		if failing(st.Members) {
			out = slices.Insert(out, 0, look)
		}
		return out
	case todoRevert:
		return []string{revert}
	case todoCorrect:
		return []string{"correct what the reason names, and apply the group again"}
	case todoUpgrade:
	}
	return []string{"this rackctl does not know the phase; take one of the hub's version"}
}

func failing(members map[string]resource.RolloutMember) bool {
	for _, m := range members {
		if m.State == resource.MemberFailed || m.State == resource.MemberReturning {
			return true
		}
	}
	return false
}
