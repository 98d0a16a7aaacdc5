package certify

import "time"

// Check is something that is tried.
type Check string

// The checks, in the order of a cycle.
const (
	CheckRead     Check = "read"            // the system is read, with a power state
	CheckOff      Check = "off"             // ForceOff: Off is read
	CheckSettled  Check = "off-lasts"       // and nothing else for the settle window
	CheckOffAgain Check = "off-again"       // ForceOff of a server that is Off: it stays Off
	CheckRestore  Check = "restore-policy"  // PowerRestorePolicy AlwaysOff, as a hold writes it, and what was before
	CheckArm      Check = "arm"             // a boot override is stored
	CheckDisarm   Check = "disarm"          // and is gone
	CheckURL      Check = "boot-url"        // HttpBootUri is stored, and is gone
	CheckOn       Check = "on"              // On: On is read
	CheckMark     Check = "power-on-marked" // LastResetTime or the power log moves with it
	CheckOnAgain  Check = "on-again"        // On of a server that is On: it stays On
	CheckPostOff  Check = "off-in-post"     // ForceOff while firmware starts: Off is read
	CheckSoft     Check = "soft-off"        // GracefulShutdown, then ForceOff where that is not heeded
	CheckPutBack  Check = "put-back"        // the machine is as it was found
)

// Checks lists the checks.
func Checks() []Check {
	return []Check{
		CheckRead, CheckOff, CheckSettled, CheckOffAgain, CheckRestore, CheckArm, CheckDisarm, CheckURL, CheckOn, CheckMark, CheckOnAgain, CheckPostOff, CheckSoft, CheckPutBack,
	}
}

// Words say what the check is about, for people.
func (c Check) Words() string { return checkWords[c] }

var checkWords = map[Check]string{
	CheckRead:     "a read gives a power state",
	CheckOff:      "ForceOff leads to Off",
	CheckSettled:  "Off lasts for the settle window",
	CheckOffAgain: "ForceOff again leaves it Off",
	CheckRestore:  "AlwaysOff is kept as power restore policy, and what was before",
	CheckArm:      "a boot override is stored",
	CheckDisarm:   "a boot override is taken back",
	CheckURL:      "a boot URL is stored, and taken back",
	CheckOn:       "On leads to On",
	CheckMark:     "a power-on leaves a mark that shows it later",
	CheckOnAgain:  "On again leaves it On",
	CheckPostOff:  "ForceOff while firmware starts leads to Off",
	CheckSoft:     "GracefulShutdown leads to Off",
	CheckPutBack:  "the machine is as it was found",
}

// checkHints say what to do where a check came to nothing and nobody knows better.
var checkHints = map[Check]string{
	CheckRead:     "without reads of a power state no hold is proved: restart the BMC, or update its firmware",
	CheckOff:      "no hold of such a machine can be proved: look at the BMC's log, restart it, or update its firmware",
	CheckOffAgain: "an order that comes twice undoes the first: update the BMC's firmware",
	CheckRestore:  "the machine may come on with mains power while it is held: set the policy in the BIOS",
	CheckArm:      "such a BMC boots something else than it is told: rackctl bmc probe says what would be written where",
	CheckDisarm:   "its next boot may not be the one that is ordered",
	CheckURL:      "reach: segment, where firmware has the URL from DHCP, needs none",
	CheckOn:       "look at the BMC's log for power and hardware faults, and restart the BMC",
	CheckOnAgain:  "an order that comes twice undoes the first: update the BMC's firmware",
	CheckPostOff:  "a hold that comes while firmware starts is not proved: look at the BMC's log, restart it, or update its firmware",
	CheckSoft:     "a soft hold waits for the operating system, then forces it off: look at what answers ACPI's power button",
	CheckPutBack:  "look at the machine: it is not as it was found",
}

// Outcome is what came of a check.
type Outcome string

// The outcomes, best first.
const (
	Passed     Outcome = "passed"
	NotOffered Outcome = "not-offered" // the BMC says that it cannot: nothing was sent
	NoMark     Outcome = "no-mark"     // nothing shows it: a limit, and no fault
	Unheeded   Outcome = "unheeded"    // GracefulShutdown; ForceOff led to Off
	Refused    Outcome = "refused"     // the BMC refused the order, and what was wanted is not so
	NoAnswer   Outcome = "no-answer"   // the BMC did not answer, and what was wanted is not so
	Differs    Outcome = "differs"     // the BMC took the order, and what was wanted was not read in time
)

// Fault reports whether the outcome is one with which the machine cannot be trusted.
func (o Outcome) Fault() bool { return o == Refused || o == NoAnswer || o == Differs }

// Outcomes lists them, best first.
func Outcomes() []Outcome {
	return []Outcome{Passed, NotOffered, NoMark, Unheeded, Refused, NoAnswer, Differs}
}

// Step is one try of a check.
type Step struct {
	Check   Check         `json:"check"`
	What    string        `json:"what,omitempty"` // a boot target
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took"` // until it was read, in nanoseconds
	Outcome Outcome       `json:"outcome"`
	// Words are the BMC's own where it gave some, else what was read.
	Words string `json:"words,omitempty"`
	Hint  string `json:"hint,omitempty"`
}
