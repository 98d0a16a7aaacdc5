package fleet

import "rackboot/protocol"

// State is what a fleet may be waited for to be. It is of the racks that have power.
type State string

// The states. Each is InStep, and more.
const (
	InStep    State = "in-step"   // each agent has what the hub has
	Installed State = "installed" // and the hub has the record of each claimed server
	Settled   State = "settled"   // and nothing more happens by itself: a server is installed and on, held, silent, or given up
	Told      State = "told"      // as Settled, and the hub has acknowledged every event
)

func parseState(text string) (State, error) {
	switch s := State(text); s {
	case InStep, Installed, Settled, Told:
		return s, nil
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "read a state", "%q is not one of %q", text, []State{InStep, Installed, Settled, Told})
}
