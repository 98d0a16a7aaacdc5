package sim

import (
	"sync"
	"time"
)

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

// diary is what happened at a BMC. Its methods are safe for concurrent use.
type diary struct {
	mu      sync.Mutex
	records []Record
}

func newDiary() *diary { return new(diary) }

func (d *diary) record(what, detail string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.records) == maxHistory {
		d.records = d.records[1:]
	}
	d.records = append(d.records, Record{At: time.Now(), What: what, Detail: detail})
}

// all is what happened, oldest first.
func (d *diary) all() []Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Record(nil), d.records...)
}
