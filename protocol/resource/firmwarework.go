package resource

import "time"

// FirmwareWork marks that somebody changes a server's firmware: a stop in the middle
// of it can break the board. Holds wait, unless they say otherwise.
type FirmwareWork struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	// NotAfter ends the mark by the hub's clock, so that a forgotten one does not block
	// holds for ever.
	NotAfter time.Time `json:"notAfter"`
}
