package resource

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// FirmwareWanted is a setting of firmware that is to be written: where, and what, as the BMC spells both.
type FirmwareWanted struct {
	// Setting is what people call it: a field of a profile (http, attributes.NAME).
	Setting string `json:"setting"`
	// Where is a property or the full name of a BIOS attribute; see [protocol.FirmwareChange].
	Where string `json:"where"`
	Value string `json:"value"`
	// Order is Value of a boot order, option by option.
	Order []string `json:"order,omitempty"`
	// Hidden says that Value and Order are not shown: they may have somebody's token. Nobody applies that.
	Hidden bool `json:"hidden,omitempty"`
}

// SettingsDigest is the digest of settings that are to be written, by which an approval names them.
func SettingsDigest(want []FirmwareWanted) string {
	text, _ := json.Marshal(want) // texts and lists of them
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

// FirmwareStage is how far the writing of firmware settings has come.
type FirmwareStage string

// The stages, in order. Those up to Checking are passed once for each job that a BMC takes at a time.
const (
	FirmwareReading   FirmwareStage = "Reading"  // Off: how it is set is read, and kept
	FirmwareWriting   FirmwareStage = "Writing"  // Off: what is otherwise is written
	FirmwareBooting   FirmwareStage = "Booting"  // it is powered on, into the firmware's menus
	FirmwareChecking  FirmwareStage = "Checking" // On: read until POST has taken what was written
	FirmwareSucceeded FirmwareStage = "Succeeded"
	FirmwareFailed    FirmwareStage = "Failed"
)

// FirmwareStages lists the stages.
func FirmwareStages() []FirmwareStage {
	return []FirmwareStage{FirmwareReading, FirmwareWriting, FirmwareBooting, FirmwareChecking, FirmwareSucceeded, FirmwareFailed}
}

// Over says whether nothing more is written.
func (s FirmwareStage) Over() bool { return s == FirmwareSucceeded || s == FirmwareFailed }

// FirmwareStanding is how far one setting has come.
type FirmwareStanding string

// The standings.
const (
	FirmwareWaiting  FirmwareStanding = "wanted"   // not written yet
	FirmwareInForce  FirmwareStanding = "in-force" // read so
	FirmwareWritten  FirmwareStanding = "written"  // the BMC has it, and POST has not taken it yet
	FirmwareNotTaken FirmwareStanding = "not-taken"
	FirmwareRefused  FirmwareStanding = "refused"  // by the BMC
	FirmwareHindered FirmwareStanding = "hindered" // it cannot be had: see Hindrance
)

// FirmwareStandings lists them.
func FirmwareStandings() []FirmwareStanding {
	return []FirmwareStanding{FirmwareWaiting, FirmwareInForce, FirmwareWritten, FirmwareNotTaken, FirmwareRefused, FirmwareHindered}
}

// FirmwareSet is one setting of a run: what it was, is to be, and is.
type FirmwareSet struct {
	FirmwareWanted
	// Before is what was read before anything was written, BeforeOrder of a boot order.
	Before      string           `json:"before,omitempty"`
	BeforeOrder []string         `json:"beforeOrder,omitempty"`
	Now         string           `json:"now,omitempty"` // last read
	Standing    FirmwareStanding `json:"standing"`
	// Hindrance is why it cannot be had; empty: it can.
	Hindrance protocol.FirmwareHindrance `json:"hindrance,omitempty"`
	// Text is what the BMC said, for people.
	Text string `json:"text,omitempty"`
}

// FirmwareCode is why a run failed.
type FirmwareCode string

// The codes.
const (
	// FirmwareCannot: a setting has a hindrance, by what was read. Nothing was written.
	FirmwareCannot FirmwareCode = "hindered"
	// FirmwareNoWay: it is not known how the vendor's settings are written. Nothing was written.
	FirmwareNoWay FirmwareCode = "unsupported"
	// FirmwareNoSetup: the BMC does not have firmware end POST in its menus. Nothing was written.
	FirmwareNoSetup FirmwareCode = "no-setup"
	// FirmwareUnreadable: the BMC could not be read.
	FirmwareUnreadable FirmwareCode = "unread"
	// FirmwareNotStarted: it could not be powered on into its menus; what was written waits for its next POST.
	FirmwareNotStarted FirmwareCode = "not-started"
	// FirmwareLeft: the settings are not all in force; each has its standing.
	FirmwareLeft FirmwareCode = "not-in-force"
)

// FirmwareCodes lists the codes.
func FirmwareCodes() []FirmwareCode {
	return []FirmwareCode{FirmwareCannot, FirmwareNoWay, FirmwareNoSetup, FirmwareUnreadable, FirmwareNotStarted, FirmwareLeft}
}

// FirmwareRun is the writing of firmware settings for one owner of a server, as its agent has it on disk.
// Values may be URLs with somebody's token.
type FirmwareRun struct {
	OwnerUID string        `json:"ownerUID"`
	Begun    time.Time     `json:"begun"`
	Stage    FirmwareStage `json:"stage"`
	Since    time.Time     `json:"since"` // when Stage was entered
	// Passes is how often something was written and POST was to take it.
	Passes int `json:"passes,omitempty"`
	// Tries is how often reading or writing has failed in a row.
	Tries    int           `json:"tries,omitempty"`
	Settings []FirmwareSet `json:"settings"`
	Code     FirmwareCode  `json:"code,omitempty"` // why it failed
	// Text is what the BMC last said against it, for people.
	Text string `json:"text,omitempty"`
	// Attempt is the power-on of the present pass.
	Attempt string `json:"attempt,omitempty"`
}

// Bare is the run without values, as anybody may see it; nil of nil.
func (r *FirmwareRun) Bare() *FirmwareRun {
	if r == nil {
		return nil
	}
	c := *r
	c.Text, c.Settings = "", slices.Clone(r.Settings)
	for i := range c.Settings {
		s := &c.Settings[i]
		s.FirmwareWanted = s.hidden()
		s.Before, s.BeforeOrder, s.Now, s.Text = "", nil, "", ""
	}
	return &c
}

func (w FirmwareWanted) hidden() FirmwareWanted {
	w.Value, w.Order, w.Hidden = "", nil, true
	return w
}

// Back are the settings that put back what was before a run, of those that it has written or may have.
func (r *FirmwareRun) Back() (want []FirmwareWanted) {
	for _, s := range r.Settings {
		if r.Passes > 0 && s.Hindrance == "" && s.Before != s.Value {
			want = append(want, FirmwareWanted{Setting: s.Setting, Where: s.Where, Value: s.Before, Order: s.BeforeOrder})
		}
	}
	return want
}

// Bounds of settings that are written: in a document for an agent they have the place of a boot. Of what was
// before no more is kept, and of what the BMC shows and says less, so that a report has room for them.
const (
	maxFirmwareSettings = 32
	MaxFirmwareBytes    = 1536
	MaxFirmwareShown    = 128
	MaxFirmwareText     = 256
)

// MaxFirmwareAtOnce is of how many servers of a rack settings are written at once: each is in its reports.
const MaxFirmwareAtOnce = 8

// checkFirmware checks the settings of a maintenance.
func checkFirmware(f *fields, all []FirmwareWanted) {
	size, seen := 0, map[string]bool{}
	for i, w := range all {
		at := fmt.Sprintf("spec.firmware[%d]", i)
		size += len(w.Setting) + len(w.Where) + len(w.Value) + len(strings.Join(w.Order, ""))
		switch {
		case w.Hidden:
			f.Add(at, "its value was not shown; give it: rackctl firmware apply makes such a maintenance")
		case !attributeText(w.Setting) || w.Setting == "":
			f.Add(at+".setting", "say in up to %d bytes what it is", maxAttributeText)
		case !attributeText(w.Where) || w.Where == "":
			f.Add(at+".where", "is no property or BIOS attribute of up to %d bytes", maxAttributeText)
		case seen[w.Where]:
			f.Add(at+".where", "%s is given twice", w.Where)
		case w.Where == protocol.FirmwareAtOrder && (len(w.Order) == 0 || strings.Join(w.Order, protocol.FirmwareOrderWords) != w.Value):
			f.Add(at+".order", "are not the options of the value")
		case w.Where != protocol.FirmwareAtOrder && len(w.Order) > 0:
			f.Add(at+".order", "is of %s only", protocol.FirmwareAtOrder)
		case w.Where == protocol.FirmwareAtSecureBoot:
			oneOf(f, at+".value", w.Value, string(WantOn), string(WantOff))
		case w.Where != protocol.FirmwareAtOrder && !attributeText(w.Value):
			f.Add(at+".value", "has more than %d bytes, or control characters", maxAttributeText)
		}
		seen[w.Where] = true
	}
	if len(all) > maxFirmwareSettings || size > MaxFirmwareBytes {
		f.Add("spec.firmware", "has %d settings with %d bytes; give up to %d with %d", len(all), size, maxFirmwareSettings, MaxFirmwareBytes)
	}
}
