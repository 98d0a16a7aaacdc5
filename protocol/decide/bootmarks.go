package decide

import (
	"slices"
	"time"
)

// Marks are what an attempt has come past. They only rise: what was once served, given or counted
// stays so while the attempt lasts, whatever becomes of its stage.
type Marks struct {
	// Written, Armed, Asked and Fetched are the moments between which the parts of the attempt
	// lie; zero is not come to.
	Written time.Time `json:"written,omitzero"`
	Armed   time.Time `json:"armed,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`
	Fetched time.Time `json:"fetched,omitzero"`
	// Opened says that the first byte of a boot file was about to be sent.
	Opened bool `json:"opened,omitempty"`
	// Loaded says that the file which firmware or iPXE is told of was sent to its end.
	Loaded bool `json:"loaded,omitempty"`
	// Served is on disk before the first byte of the last file is sent: from then on
	// the operating system may run.
	Served bool `json:"served,omitempty"`
	// Cached says that the BMC had read all of the medium before the power-on.
	Cached bool `json:"cached,omitempty"`
	// Assumed says that Recover assumed Fetched, Announced that an event has said so.
	Assumed   bool `json:"assumed,omitempty"`
	Announced bool `json:"announced,omitempty"`
	// Given is on disk before the first byte of the user data is sent, Deliveries counts those
	// to the last byte.
	Given      bool `json:"given,omitempty"`
	Deliveries int  `json:"deliveries,omitempty"`
	// Refusals are the reasons for which the user data was refused to who had the token.
	Refusals []IgnitionVerdict `json:"refusals,omitempty"`
	// Unheeded are the reasons for which reports of its image were not heeded.
	Unheeded []ReportVerdict `json:"unheeded,omitempty"`
}

// unheeded reports whether a report of the attempt's image was not heeded for the reason.
func (a *Attempt) unheeded(why ReportVerdict) bool { return slices.Contains(a.Marks.Unheeded, why) }
