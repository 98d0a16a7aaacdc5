package daemon

import (
	"errors"
	"fmt"
	"strings"

	"rackboot/agent/guard"
	"rackboot/agent/store"
	"rackboot/protocol"
)

// acceptLoss is what to do about a store that is not whole.
const acceptLoss = "put a newer copy of the folder back if there is one; else rackboot-agent accept-loss --reason REASON"

// lossError is why a database that has less is not used.
func lossError(dir string, in store.Inspection) error {
	missing := ""
	if n := len(in.Missing); n > 0 {
		missing = fmt.Sprintf("; missing are %s", strings.Join(in.Missing[:min(n, missingSaid)], ", "))
		if n > missingSaid {
			missing += fmt.Sprintf(" and %d more", n-missingSaid)
		}
	}
	cause := errors.New(lossText(in))
	if in.Condition == store.DatabaseReverted {
		cause = guard.ErrReverted
	}
	return protocol.Errorf(protocol.CodeInternal, "open store", "the database in %s is not whole: %w%s", dir, cause, missing).
		WithHint("stop the agent, and rackboot-agent check lists all; %s", acceptLoss)
}

// missingSaid is how many missing keys an error names.
const missingSaid = 10

// lossText says what an inspection found.
func lossText(in store.Inspection) string {
	switch in.Condition {
	case store.DatabaseGone:
		return "nothing is there, and there was a store"
	case store.DatabaseHeadless:
		return "its head is missing"
	case store.DatabaseBehind:
		return fmt.Sprintf("it has %d transactions, and had %d: it is an older copy, or has lost its end", in.Head.Sequence, in.Known.Sequence)
	case store.DatabaseDamaged:
		return fmt.Sprintf("what is there of %v is not what was written", in.Kinds)
	case store.DatabaseReverted:
		return guard.ErrReverted.Error()
	case store.DatabaseNew, store.DatabaseWhole:
	}
	return string(in.Condition)
}
