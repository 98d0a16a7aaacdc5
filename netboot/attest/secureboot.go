package attest

import (
	"bytes"

	"rackboot/netboot/attest/eventlog"
)

// debugMode is what firmware with a debugger measures into PCR 7 (PFP 1.06 section 3.3.4.8).
const debugMode = "UEFI Debug Mode"

// secureBoot holds PCR 7 against Secure Boot being on. The state is the first variable that
// firmware measures there, and it is measured once; what comes before the separator is firmware's.
func (b *boot) secureBoot() {
	f := secureBootFacts{state: stateAbsent}
	ended, configured := false, map[string]bool{}
	for _, e := range b.events[7] {
		variable, is := eventlog.ParseVariable(e.covered)
		is = is && e.whole
		switch {
		case e.separator():
			ended = true
		case is && variable.Owner == eventlog.GlobalVariable() && variable.Name == "SecureBoot":
			f.late = f.late || len(configured) > 0 || ended
			f.state = stateOf(variable.Value)
			configured[variable.Name] = true
		case is && !ended && configures(variable.Name) && !configured[variable.Name]:
			configured[variable.Name] = true
		case is:
			configured[variable.Name] = true
			b.authority(e)
		case e.note() && string(e.covered) == debugMode:
			b.add(Difference{Code: DebugMode, PCR: 7, Event: e.number, Name: debugMode})
		case e.note():
		default:
			b.add(Difference{Code: Unaccounted, PCR: 7, Event: e.number, Name: e.claim, Seen: e.digest})
		}
	}
	f.ended = ended
	if code := secureBootCode(f); code != "" {
		b.add(Difference{Code: code, PCR: 7, Event: -1, Name: "SecureBoot"})
	}
}

// configures reports whether firmware measures a variable because it governs Secure Boot. It
// does so once, before anything is verified: db again is an entry of it that somebody was
// verified by (PFP 1.06 section 3.3.4.8).
func configures(name string) bool {
	switch name {
	case "PK", "KEK", "db", "dbx", "dbt", "dbr", "devdb", "SetupMode", "AuditMode", "DeployedMode":
		return true
	}
	return false
}

// authority holds one who had signed what was started against those who may.
func (b *boot) authority(e event) {
	if b.x.Authorities == nil {
		return
	}
	for _, a := range b.x.Authorities {
		if bytes.Equal(a.Digest, e.digest) {
			return
		}
	}
	b.add(Difference{Code: OtherAuthority, PCR: 7, Event: e.number, Name: e.claim, Seen: e.digest})
}

// state is what the variable SecureBoot says.
type state string

const (
	stateAbsent state = "absent"
	stateOff    state = "off"
	stateOn     state = "on"
)

func stateOf(value []byte) state {
	if bytes.Equal(value, []byte{1}) {
		return stateOn
	}
	return stateOff
}

// secureBootFacts are what the rule sees of PCR 7.
type secureBootFacts struct {
	state state
	late  bool // it was measured after something else, as every second time is
	ended bool // firmware wrote its separator
}

// secureBootCode is what is wrong with Secure Boot. The first row that fits decides.
//
//	state  | late | ended | code
//	absent | *    | *     | secure-boot-unclear
//	*      | yes  | *     | secure-boot-unclear
//	*      | no   | no    | secure-boot-unclear
//	off    | no   | yes   | secure-boot-off
//	on     | no   | yes   | none
func secureBootCode(f secureBootFacts) Code {
	switch {
	case f.state == stateAbsent, f.late, !f.ended:
		return SecureBootUnclear
	case f.state == stateOff:
		return SecureBootOff
	}
	return ""
}
