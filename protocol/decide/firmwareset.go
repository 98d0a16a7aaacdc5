package decide

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// FirmwareTook is what a BMC made of a setting that was written.
type FirmwareTook string

// What it made.
const (
	FirmwareTookNow  FirmwareTook = "in-force"
	FirmwareTookNext FirmwareTook = "waits"  // for POST
	FirmwareTookDark FirmwareTook = "unseen" // taken, and shown nowhere
	FirmwareTookNot  FirmwareTook = "later"  // left for the next pass
)

// FirmwareOrder is what [ActReadFirmware] and [ActWriteFirmware] are about.
type FirmwareOrder struct {
	Names   []string                  // of BIOS attributes, to read
	Changes []protocol.FirmwareChange // to write
}

// FirmwareAnswer is what came of it. Text is what the BMC said against it; it may have values, and goes
// nowhere but into the run.
type FirmwareAnswer struct {
	Shown protocol.Firmware
	Took  map[string]FirmwareTook // by place
	Text  string
}

// newRun is a run in which nothing was read yet.
func newRun(owner string, want []resource.FirmwareWanted) *resource.FirmwareRun {
	r := &resource.FirmwareRun{OwnerUID: owner}
	for _, w := range want {
		r.Settings = append(r.Settings, resource.FirmwareSet{FirmwareWanted: w, Standing: resource.FirmwareWaiting})
	}
	return r
}

// cloneRun copies what a step may change in place.
func cloneRun(r *resource.FirmwareRun) *resource.FirmwareRun {
	if r == nil {
		return nil
	}
	c := *r
	c.Settings = slices.Clone(r.Settings)
	return &c
}

// attributesIn are the BIOS attributes of a run, by their full names.
func attributesIn(r *resource.FirmwareRun) (names []string) {
	for _, s := range r.Settings {
		if !slices.Contains([]string{protocol.FirmwareAtOrder, protocol.FirmwareAtSecureBoot, protocol.FirmwareAtRestore}, s.Where) {
			names = append(names, s.Where)
		}
	}
	return names
}

// changesIn are the changes that are to be written now.
func changesIn(r *resource.FirmwareRun) (out []protocol.FirmwareChange) {
	for _, s := range r.Settings {
		if s.Standing == resource.FirmwareWaiting {
			out = append(out, protocol.FirmwareChange{Setting: s.Where, Where: s.Where, Wanted: s.Value, Order: s.Order})
		}
	}
	return out
}

func stood(r *resource.FirmwareRun, st resource.FirmwareStanding) bool {
	return slices.ContainsFunc(r.Settings, func(s resource.FirmwareSet) bool { return s.Standing == st })
}

// turn gives the settings of one standing another.
func turn(r *resource.FirmwareRun, from, to resource.FirmwareStanding) {
	for i := range r.Settings {
		if r.Settings[i].Standing == from {
			r.Settings[i].Standing = to
		}
	}
}

// note takes what was read over into the settings of a run. first keeps it as what was before.
func note(r *resource.FirmwareRun, shown protocol.Firmware, first bool) {
	kept := 0
	for i := range r.Settings {
		s := &r.Settings[i]
		v, there := shown.At(s.Where)
		if s.Now = cut(v.Value, resource.MaxFirmwareShown); first {
			s.Before, s.BeforeOrder = v.Value, nil
			if s.Where == protocol.FirmwareAtOrder {
				s.BeforeOrder = shown.BootOrder
			}
			kept += len(s.Setting) + len(s.Where) + len(s.Before) + len(strings.Join(s.BeforeOrder, ""))
			long := kept > resource.MaxFirmwareBytes
			if long {
				s.Before, s.BeforeOrder = "", nil
			}
			s.Hindrance = hindranceRule(there, v.Secret, v.ReadOnly, len(v.Values) == 0 || slices.Contains(v.Values, s.Value), long)
		}
		is := there && !v.Secret && v.Value == s.Value && (v.Waits == "" || v.Waits == s.Value)
		s.Standing = stoodRule(s.Hindrance != "", is, s.Standing)
	}
}

// hindranceRule is why a setting cannot be had by what was read. The first row that fits decides.
//
//	there | secret | read-only | allowed | long | hindrance
//	no    | *      | *         | *       | *    | unread
//	yes   | yes    | *         | *       | *    | secret
//	yes   | no     | yes       | *       | *    | read-only
//	yes   | no     | no        | no      | *    | bad-value
//	yes   | no     | no        | yes     | yes  | too-long
//	yes   | no     | no        | yes     | no   | none
//
// long is that there is no place to keep what it is set to.
func hindranceRule(there, secret, readOnly, allowed, long bool) protocol.FirmwareHindrance {
	switch {
	case !there:
		return protocol.FirmwareUnread
	case secret:
		return protocol.FirmwareSecret
	case readOnly:
		return protocol.FirmwareReadOnly
	case !allowed:
		return protocol.FirmwareBadValue
	case long:
		return protocol.FirmwareTooLong
	}
	return ""
}

// cut is the beginning of a text, in whole characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// stoodRule is how a setting stands after it was read. is says that it is as wanted. The first row that fits
// decides.
//
//	hindered | is  | was       | now
//	yes      | *   | *         | hindered
//	no       | yes | *         | in-force
//	no       | no  | in-force  | wanted
//	no       | no  | wanted    | wanted
//	no       | no  | written   | written
//	no       | no  | not-taken | not-taken
//	no       | no  | refused   | refused
//	no       | no  | hindered  | hindered
func stoodRule(hindered, is bool, was resource.FirmwareStanding) resource.FirmwareStanding {
	switch {
	case hindered:
		return resource.FirmwareHindered
	case is:
		return resource.FirmwareInForce
	case was == resource.FirmwareInForce:
		return resource.FirmwareWaiting
	}
	return was
}

// readFacts is what a reading at Off comes to.
type readFacts struct {
	first    bool // nothing was written yet
	writable bool // it is known how the vendor's settings are written
	setup    bool // the BMC has firmware end POST in its menus, as far as it says
	hindered bool // a setting cannot be had
	wanted   bool // a setting is to be written
	left     bool // a setting is not in force, and not to be written again
	passes   bool // there are some left
}

// reads is what follows from it.
type reads string

const (
	readsNoWay   reads = "unsupported"
	readsNoSetup reads = "no setup"
	readsCannot  reads = "hindered"
	readsDone    reads = "succeeded"
	readsLeft    reads = "not in force"
	readsWrite   reads = "write"
)

// readRule says what follows from a reading at Off. The first row that fits decides.
//
//	first | hindered | wanted | left | writable | setup | passes | then
//	*     | yes      | *      | *    | *        | *     | *      | hindered
//	*     | no       | no     | no   | *        | *     | *      | succeeded
//	yes   | no       | yes    | *    | no       | *     | *      | unsupported
//	yes   | no       | yes    | *    | yes      | no    | *      | no setup
//	*     | no       | yes    | *    | *        | *     | yes    | write
//	*     | no       | *      | *    | *        | *     | *      | not in force
//
// All of it, or nothing: what cannot be had keeps the rest from being written.
func readRule(f readFacts) reads { return verdict(readRules, f) }

var readRules = []rule[readFacts, reads]{
	{"a setting cannot be had", func(f readFacts) bool { return f.hindered }, readsCannot},
	{"all is as wanted", func(f readFacts) bool { return !f.wanted && !f.left }, readsDone},
	{"nobody knows how it is written", func(f readFacts) bool { return f.first && f.wanted && !f.writable }, readsNoWay},
	{"POST would go on to a boot", func(f readFacts) bool { return f.first && f.wanted && !f.setup }, readsNoSetup},
	{"something is to be written", func(f readFacts) bool { return f.wanted && f.passes }, readsWrite},
	{"something is not in force", func(readFacts) bool { return true }, readsLeft},
}
