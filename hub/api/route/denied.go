package route

import (
	"rackboot/hub/access"
	"rackboot/protocol"
)

// Denied returns the refusal of an operation, with the code denied. what names the target; it may
// be empty.
func Denied(who access.Caller, op access.Operation, v access.Verdict, what string) error {
	if op == "" {
		op = "do this"
	}
	if v == access.DeniedScope {
		if what == "" {
			what = "the hub as a whole"
		}
		return protocol.Errorf(protocol.CodeDenied, string(op), "%s is not in the scope of %q, which is %s", what, who.Name, who.Scope).
			WithHint("rackctl whoami shows what may be done; the scope is in clients of hub.yaml")
	}
	return protocol.Errorf(protocol.CodeDenied, string(op), "no role of %q has the right to %s", who.Name, op).
		WithHint("rackctl whoami shows what may be done; the roles are in clients of hub.yaml")
}
