package sim

import "time"

// maxHistory bounds the records kept; older ones are forgotten.
const maxHistory = 1000

// Record is one thing that happened at a BMC: "patch", "reset", "power",
// "consumed", "external",
// "boot" or "media".
type Record struct {
	At     time.Time
	What   string
	Detail string // "UefiHttp Once", "ForceOff", "Off", "UefiHttp", "power button"
}

// The values of Record.What.
const (
	RecordPatch    = "patch"    // a boot change that was accepted
	RecordReset    = "reset"    // a reset that was accepted
	RecordPower    = "power"    // a new PowerState
	RecordConsumed = "consumed" // the target by which firmware picked its device
	RecordExternal = "external" // something that a person did, or the BMC of its own
	RecordBoot     = "boot"     // why firmware did not boot what the override asks for
	RecordMedia    = "media"    // an image that was inserted
)

// record adds a record. b.mu is held.
func (b *BMC) record(what, detail string) {
	if len(b.history) == maxHistory {
		b.history = b.history[1:]
	}
	b.history = append(b.history, Record{At: time.Now(), What: what, Detail: detail})
}

// History is what happened, oldest first.
func (b *BMC) History() []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Record(nil), b.history...)
}
