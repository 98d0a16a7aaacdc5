package bmc

// SystemID is what a machine is known by, whatever its path at the BMC. What is empty is not
// known.
type SystemID struct{ UUID, Serial string }

// Finder is a driver that finds its system again where the BMC gives it another path.
type Finder interface {
	// Expect says which machine the system is. Without it, a system that is not at its path
	// is not looked for. It sends nothing.
	Expect(id SystemID)
}
