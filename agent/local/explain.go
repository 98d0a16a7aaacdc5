package local

import (
	"cmp"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Condition is a condition with what the registry says of it.
type Condition struct {
	resource.ConditionState
	Title    string            `json:"title"`
	Severity resource.Severity `json:"severity"`
	Hint     string            `json:"hint"`
	// ExplainedBy are others that are so and of which this one is a consequence.
	ExplainedBy []resource.ConditionCode `json:"explainedBy,omitempty"`
}

// Explanation says why a server is where it is.
type Explanation struct {
	WaitsFor Wait `json:"waitsFor"`
	// Text is WaitsFor in words.
	Text       string      `json:"text"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Wait is what a server waits for.
type Wait string

// What a server waits for.
const (
	WaitNothing    Wait = "nothing"
	WaitStore      Wait = "store"
	WaitDocument   Wait = "document"
	WaitReach      Wait = "reach"
	WaitProof      Wait = "proof"
	WaitRelease    Wait = "release"
	WaitConditions Wait = "conditions"
	WaitBoot       Wait = "boot"
	WaitClaim      Wait = "claim"
)

// waits lists all.
var waits = []Wait{WaitNothing, WaitStore, WaitDocument, WaitReach, WaitProof, WaitRelease, WaitConditions, WaitBoot, WaitClaim}

// String is the wait in words.
func (w Wait) String() string {
	switch w {
	case WaitNothing:
		return "it waits for nothing"
	case WaitStore:
		return "it waits for the agent's store: until that can be written, nothing is done but to force off what is held"
	case WaitDocument:
		return "it waits for a document of the hub that says how to reach its BMC"
	case WaitReach:
		return "it waits for its BMC to answer: while it does not, nobody knows whether the held server runs; fence it by other means, then confirm-down"
	case WaitProof:
		return "it waits until it is proved off under its holds"
	case WaitRelease:
		return "it waits for the release of all its holds"
	case WaitConditions:
		return "it waits for the end of what its conditions say"
	case WaitBoot:
		return "it waits for the boot under way to end"
	case WaitClaim:
		return "it waits for a claim"
	}
	return "it waits for " + string(w)
}

// waiting is what decides.
type waiting struct {
	guard, intent, held, reached, fenced, trouble, booting, claim bool
}

// waitRule is the table of waits. The first row that fits decides.
//
//	guard | intent | held | reached | fenced | trouble | booting | claim | waits for
//	yes   | *      | *    | *       | *      | *       | *       | *     | store
//	no    | no     | *    | *       | *      | *       | *       | *     | document
//	no    | yes    | yes  | *       | yes    | *       | *       | *     | release
//	no    | yes    | yes  | no      | no     | *       | *       | *     | reach
//	no    | yes    | yes  | yes     | no     | *       | *       | *     | proof
//	no    | yes    | no   | *       | *      | yes     | *       | *     | conditions
//	no    | yes    | no   | *       | *      | no      | yes     | *     | boot
//	no    | yes    | no   | *       | *      | no      | no      | no    | claim
//	no    | yes    | no   | *       | *      | no      | no      | yes   | nothing
//
// Guard is that the agent is in guard mode. Fenced is that every hold has its receipt, or an operator's word instead. Trouble are
// conditions that are not mere information.
func waitRule(w waiting) Wait {
	switch {
	case w.guard:
		return WaitStore
	case !w.intent:
		return WaitDocument
	case w.held && w.fenced:
		return WaitRelease
	case w.held && !w.reached:
		return WaitReach
	case w.held:
		return WaitProof
	case w.trouble:
		return WaitConditions
	case w.booting:
		return WaitBoot
	case !w.claim:
		return WaitClaim
	default:
		return WaitNothing
	}
}

// explain explains a server whose other fields are set.
func explain(s Server) Explanation {
	w := waiting{
		guard: s.Guarding, intent: s.Intent != nil, reached: s.Report.Observation.Power != protocol.PowerUnreachable && s.Report.Observation.Power != "",
		fenced: true, claim: s.Intent != nil && s.Intent.Owner.UID != "",
	}
	for _, h := range s.Holds {
		if h.Word == resource.HoldReleased {
			continue
		}
		w.held = true
		w.fenced = w.fenced && h.Receipt != nil
	}
	if a := s.Report.Attempt; a != nil {
		w.booting = a.State != resource.AttemptSucceeded && a.State != resource.AttemptFailed
	}
	conds := Describe(s.Report.Conditions)
	w.trouble = slices.ContainsFunc(conds, func(c Condition) bool { return c.Severity != resource.SeverityInfo })
	wait := waitRule(w)
	return Explanation{WaitsFor: wait, Text: wait.String(), Conditions: conds}
}

// Describe adds what the registry says, the worst first.
func Describe(all []resource.ConditionState) []Condition {
	var out []Condition
	for _, c := range all {
		d := Condition{ConditionState: c, Title: string(c.Code), Severity: resource.SeverityWarning}
		if known, ok := resource.LookupCondition(c.Code); ok {
			d.Title, d.Severity, d.Hint = known.Title, known.Severity, known.Hint
			for _, o := range all {
				if slices.Contains(known.DependsOn, o.Code) {
					d.ExplainedBy = append(d.ExplainedBy, o.Code)
				}
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), a.Since.Compare(b.Since), cmp.Compare(a.Code, b.Code))
	})
	return out
}

func rank(s resource.Severity) int {
	switch s {
	case resource.SeverityError:
		return 0
	case resource.SeverityWarning:
		return 1
	case resource.SeverityInfo:
	}
	return 2
}
