package sim

import (
	"encoding/json"
	"net/http"
	"slices"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

// resetAction is ComputerSystem.Reset of a system.
type resetAction struct {
	uri     string   // of the system
	allowed []string // none: not stated
	manner  *manner
	diary   *diary
	jobs    *jobs
	tasks   *delay.Later
	power   *power
}

func knownResets() []string {
	return []string{
		tree.ResetOn, tree.ResetForceOn, tree.ResetForceOff, tree.ResetGracefulShutdown, tree.ResetGracefulRestart,
		tree.ResetForceRestart, tree.ResetPowerCycle, tree.ResetPushPowerButton, tree.ResetNmi,
	}
}

func (a *resetAction) post(r *request) *answer {
	allowed := a.allowed
	if len(allowed) == 0 {
		allowed = knownResets()
	}
	kind, refused := parseReset(r.body, allowed)
	if refused == nil && a.manner.now().Power.TaskFails {
		return a.taskOf(kind)
	}
	if refused == nil {
		refused = a.power.reset(kind)
	}
	if refused != nil {
		return refuse(refused)
	}
	return reply(http.StatusNoContent, nil)
}

// taskOf takes a reset as a Task that fails.
func (a *resetAction) taskOf(kind string) *answer {
	a.diary.record(RecordReset, kind)
	j := a.jobs.add(a.uri, "reset "+kind)
	j.state = "Running"
	a.tasks.After(a.manner.now().Power.TaskTakes, func() {
		a.jobs.become(j, "Exception", tree.Object{"MessageId": "Base.1.13.InternalError", "Message": "The power sequencer did not answer.", "Severity": "Critical"})
	})
	taken := reply(http.StatusAccepted, nil)
	taken.header.Set("Location", j.uri)
	return taken
}

// parseReset checks the body of a reset.
func parseReset(body []byte, allowed []string) (string, *refusal) {
	var f map[string]json.RawMessage
	if json.Unmarshal(body, &f) != nil || f == nil {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"}
	}
	for name := range f {
		if name != "ResetType" {
			return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterUnknown", text: "parameter " + name}
		}
	}
	var kind string
	if json.Unmarshal(f["ResetType"], &kind) != nil || !slices.Contains(allowed, kind) {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterValueNotInList", text: "parameter ResetType"}
	}
	return kind, nil
}
