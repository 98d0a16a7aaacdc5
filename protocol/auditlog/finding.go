package auditlog

import (
	"fmt"

	"rackboot/protocol"
)

// Fault is what is wrong with a log.
type Fault string

// The faults.
const (
	Altered   Fault = "altered"           // an entry is not the one that was written
	Missing   Fault = "missing"           // entries are not there
	Reordered Fault = "reordered"         // an entry comes before one that was written earlier
	Inserted  Fault = "inserted"          // an entry is there that was not written there
	Cut       Fault = "cut"               // the export's head or tail is not there
	Foreign   Fault = "foreign signature" // somebody else signed
	Forked    Fault = "forked"            // two exports have other entries under one number
)

// Finding is the first entry that does not fit, and why. It is an error.
type Finding struct {
	Fault Fault  `json:"fault"`
	Line  int    `json:"line,omitempty"` // of the file, from 1
	Seq   uint64 `json:"seq,omitempty"`  // of the entry that is expected there, as far as is known
	Why   string `json:"why"`
}

// Error says where and what.
func (f *Finding) Error() string {
	switch {
	case f.Line == 0:
		return fmt.Sprintf("entry %d: %s: %s", f.Seq, f.Fault, f.Why)
	case f.Seq == 0:
		return fmt.Sprintf("line %d: %s: %s", f.Line, f.Fault, f.Why)
	}
	return fmt.Sprintf("line %d, entry %d: %s: %s", f.Line, f.Seq, f.Fault, f.Why)
}

// Code is denied for a foreign signature, and conflict for all else.
func (f *Finding) Code() protocol.Code {
	if f.Fault == Foreign {
		return protocol.CodeDenied
	}
	return protocol.CodeConflict
}
