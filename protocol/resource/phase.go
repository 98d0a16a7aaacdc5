package resource

// Phase is where a server stands. Nobody stores it: decide.Phase computes it
// from intent and report wherever it is printed.
type Phase string

// The phases. Held, SafeStopped and Dark are conditions, not phases.
const (
	PhaseInitial     Phase = "Initial"
	PhaseDiscovery   Phase = "Discovery"
	PhaseAvailable   Phase = "Available"
	PhaseReserved    Phase = "Reserved"
	PhaseMaintenance Phase = "Maintenance"
	PhaseReleasing   Phase = "Releasing"
	PhaseError       Phase = "Error"
)

// Phases lists all phases.
func Phases() []Phase {
	return []Phase{PhaseInitial, PhaseDiscovery, PhaseAvailable, PhaseReserved, PhaseMaintenance, PhaseReleasing, PhaseError}
}
