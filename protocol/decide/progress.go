package decide

import (
	"slices"
	"time"
)

// Progress is how far the server's boot was last seen by its BMC.
type Progress struct {
	Class progressClass `json:"class,omitempty"`
	Since time.Time     `json:"since,omitzero"`
	// Followed says that firmware was seen to run before, so that the word is none that
	// the BMC kept from an earlier boot.
	Followed bool `json:"followed,omitempty"`
}

// progressClass is what a BootProgress says. Words that BMCs show at any time (None,
// OEM) say nothing.
type progressClass string

const (
	progressNone     progressClass = ""
	progressFirmware progressClass = "firmware" // POST
	progressSetup    progressClass = "setup"    // the firmware's own programs: setup, or the EFI shell
	progressOS       progressClass = "os"
)

var progressClasses = []progressClass{progressNone, progressFirmware, progressSetup, progressOS}

// progressOf reads a BootProgress (Redfish ComputerSystem.BootProgress.LastState).
func progressOf(word string) progressClass {
	firmware := []string{
		"PrimaryProcessorInitializationStarted", "BusInitializationStarted", "MemoryInitializationStarted",
		"SecondaryProcessorInitializationStarted", "PCIResourceConfigStarted", "SystemHardwareInitializationComplete",
	}
	switch {
	case word == "OSBootStarted" || word == "OSRunning":
		return progressOS
	case word == "SetupEntered":
		return progressSetup
	case slices.Contains(firmware, word):
		return progressFirmware
	}
	return progressNone
}

// progressRule says whether a read shows that the server was reset since the read
// before. The first row that fits decides.
//
//	was      | is       | transition | order | answer
//	os       | firmware | none       | none  | yes
//	os       | setup    | none       | none  | yes
//	*        | *        | *          | *     | no
//
// Nothing but a reset leads from an operating system back to firmware. A BMC that shows
// the same word for ever (ProgressStuck) shows none.
func progressRule(was, is progressClass, transition, ours bool) bool {
	return was == progressOS && (is == progressFirmware || is == progressSetup) && !transition && !ours
}
