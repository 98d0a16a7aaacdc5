package auditlog

import (
	"fmt"
	"strings"

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
	Hub   string `json:"hub,omitempty"` // whose log it is, in an export of several
}

// Error says where and what.
func (f *Finding) Error() string {
	var where []string
	if f.Line != 0 {
		where = append(where, fmt.Sprintf("line %d", f.Line))
	}
	if f.Hub != "" {
		where = append(where, "hub "+f.Hub)
	}
	if f.Seq != 0 || f.Line == 0 && f.Hub == "" {
		where = append(where, fmt.Sprintf("entry %d", f.Seq))
	}
	return fmt.Sprintf("%s: %s: %s", strings.Join(where, ", "), f.Fault, f.Why)
}

// Code is denied for a foreign signature, and conflict for all else.
func (f *Finding) Code() protocol.Code {
	if f.Fault == Foreign {
		return protocol.CodeDenied
	}
	return protocol.CodeConflict
}
