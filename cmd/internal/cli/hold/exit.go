package hold

// The exit codes of fence and receipt besides 0 and those of protocol.Code, which are for
// questions that were not taken: an unknown server, a key that is in use.
const (
	exitNotProved = 10
	exitUnknown   = 11
	exitManual    = 12
)
