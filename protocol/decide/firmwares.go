package decide

import (
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// firmwares writes settings of a server's firmware for its owner.
type firmwares struct {
	d *draft
	s *Snapshot
}

func (fw firmwares) attempts() attempts { return attempts(fw) }

func (fw firmwares) boots() boots { return boots(fw) }

func (fw firmwares) drives() drives { return drivesOf(fw.d, fw.s) }

func (fw firmwares) grants() grants { return grants(fw) }

func (fw firmwares) guards() guards { return guardsOf(fw.d, fw.s) }

func (fw firmwares) inrush() inrush { return inrush(fw) }

func (fw firmwares) rearming() rearming { return rearming(fw) }

func (fw firmwares) stops() stops { return stops(fw) }

func (fw firmwares) urls() urls { return urlsOf(fw.d, fw.s) }

// current is the run of the present owner; nil before it is begun.
func (fw firmwares) current() *resource.FirmwareRun {
	if r := fw.d.rec.Owners.Firmware; r != nil && r.OwnerUID == fw.s.Intent.Owner.UID {
		return r
	}
	return nil
}

func (fw firmwares) facts() firmwareFacts {
	in, run := fw.s.Intent, fw.current()
	f := firmwareFacts{
		power: runningOf(fw.d.watch.Last.Power), setup: setupNone, pending: fw.d.pending(), heard: !fw.s.HubTime.IsZero(),
		used: fw.d.rec.Owners.Used[provisionKey(in.Owner.UID, 0)].Spent,
	}
	_, f.cleared = fw.grants().clearsSettings()
	if run == nil {
		return f
	}
	f.stage, f.early = run.Stage, fw.d.now.Before(fw.next())
	f.expired = !fw.d.now.Before(run.Since.Add(postLimit))
	if a := fw.d.rec.Attempt; a != nil && a.ID == run.Attempt {
		if f.setup = setupBooted; a.Stage.State == resource.AttemptFailed {
			f.setup = setupFailed
		}
	}
	return f
}

// next is when the run may go on.
func (fw firmwares) next() time.Time {
	run, at := fw.current(), fw.d.watch.FirmwareNext
	switch run.Stage {
	case resource.FirmwareChecking:
		least := run.Since.Add(postLeast)
		if p := fw.d.rec.Shown.Progress; p.Class == progressSetup && !p.Since.Before(run.Since.Add(-postLeast)) {
			return at
		}
		if least.After(at) {
			return least
		}
	case resource.FirmwareBooting:
		if fw.d.watch.NextTry.After(at) {
			return fw.d.watch.NextTry
		}
	case resource.FirmwareReading, resource.FirmwareWriting, resource.FirmwareSucceeded, resource.FirmwareFailed:
	}
	return at
}

// run brings the settings of the intent into force, and the server to Off.
func (fw firmwares) run() {
	if !fw.boots().course() || !fw.boots().ready() {
		return
	}
	run := fw.current()
	switch firmwareRule(fw.facts()) {
	case firmwareLook:
		fw.d.recheck(activeInterval)
	case firmwareStop:
		fw.stops().advance(resource.StopSoft, fw.s.Settings.SoftTimeout)
	case firmwareLater:
		fw.d.recheckAt(fw.next())
	case firmwareQuiet:
		fw.d.awaitQuiet()
	case firmwareLost:
		fw.d.raise(resource.CondGrantSpent, "its settings were begun to be written, and what became of it is lost")
	case firmwareHub:
		fw.d.raise(resource.CondAwaitingHub, "firmware settings")
	case firmwareApprove:
		fw.d.raise(resource.CondFirmwareNotApproved, "for %s", fw.s.Intent.Owner.Name)
	case firmwareBegin:
		fw.begin()
	case firmwareRead:
		if run.Stage == resource.FirmwareReading && fw.guards().putBack() {
			return // what a hold has set is not how it is set
		}
		fw.d.recheck(firmwarePause)
		fw.d.act(Action{Kind: ActReadFirmware, Firmware: &FirmwareOrder{Names: attributesIn(run)}})
	case firmwareWrite:
		fw.write(run)
	case firmwareBoot:
		if fw.guards().putBack() || fw.inrush().waits(PlaceBegin) {
			return
		}
		if fw.d.rec.Unexpected != nil {
			fw.d.explained() // its owner orders this power-on, and nothing boots
		}
		run.Attempt = fw.attempts().setup(run.Passes)
		fw.d.dirty = true
	case firmwareCheck:
		fw.enter(resource.FirmwareChecking)
		fw.d.recheck(activeInterval)
	case firmwareAgain:
		turn(run, resource.FirmwareWritten, resource.FirmwareWaiting)
		fw.enter(resource.FirmwareReading)
		fw.d.recheck(0)
	case firmwareGiveUp:
		turn(run, resource.FirmwareWritten, resource.FirmwareNotTaken)
		fw.enter(resource.FirmwareReading)
		fw.d.recheck(0)
	case firmwareFail:
		fw.count(run)
	case firmwareRest:
	}
}

// begin begins the run of the owner, once nothing is left at the BMC of who had the server before: what a hold
// or a boot has set is not what was before.
func (fw firmwares) begin() {
	if fw.guards().putBack() || fw.urls().clearFirst() || fw.drives().ejectFirst() || fw.rearming().left() != leftNothing && fw.rearming().drop() {
		return
	}
	fw.grants().useSettings()
	run := newRun(fw.s.Intent.Owner.UID, fw.s.Intent.Settings.Want)
	run.Begun = fw.d.now
	fw.d.rec.Owners.Firmware = run
	fw.enter(resource.FirmwareReading)
	fw.d.happened(resource.EventFirmwareRun, "begun: %s", strings.Join(settingsOf(run), ", "))
	fw.d.recheck(0)
}

// settingsOf names the settings of a run, or those of some standings, without their values.
func settingsOf(r *resource.FirmwareRun, of ...resource.FirmwareStanding) (names []string) {
	for _, s := range r.Settings {
		switch {
		case len(of) == 0:
			names = append(names, s.Setting)
		case slices.Contains(of, s.Standing):
			names = append(names, s.Setting+" ("+string(s.Standing)+")")
		}
	}
	return names
}

// enter goes to a stage. What is read next is read at once.
func (fw firmwares) enter(st resource.FirmwareStage) {
	run := fw.d.rec.Owners.Firmware
	run.Stage, run.Since, run.Tries = st, fw.d.now, 0
	fw.d.watch.FirmwareNext, fw.d.dirty = time.Time{}, true
}

// write sends what is to be written. That it is tried is on disk before.
func (fw firmwares) write(run *resource.FirmwareRun) {
	if fw.guards().putBack() {
		return // else it would come over what is written
	}
	if run.Tries >= firmwareTries {
		turn(run, resource.FirmwareWaiting, resource.FirmwareRefused)
		fw.wrote(run)
		return
	}
	run.Tries++
	fw.d.dirty = true
	fw.d.recheck(firmwarePause)
	fw.d.act(Action{Kind: ActWriteFirmware, Firmware: &FirmwareOrder{Changes: changesIn(run)}})
}

// count goes on after a power-on that failed.
func (fw firmwares) count(run *resource.FirmwareRun) {
	a := fw.d.rec.Attempt
	switch {
	case a.Stage.Ending.Code == resource.AttemptNotStored, !a.Stage.Ending.Abandoned && run.Passes >= firmwarePasses:
		fw.end(resource.FirmwareFailed, resource.FirmwareNotStarted)
	default:
		turn(run, resource.FirmwareWritten, resource.FirmwareWaiting)
		fw.enter(resource.FirmwareReading)
		fw.d.recheck(0)
	}
}

// end ends the run. What the inventory says of firmware, such as the safe stop, is read again.
func (fw firmwares) end(st resource.FirmwareStage, code resource.FirmwareCode) {
	run := fw.d.rec.Owners.Firmware
	fw.d.plan.Changed = true
	fw.enter(st)
	run.Code = code
	if st == resource.FirmwareSucceeded {
		fw.d.happened(resource.EventFirmwareRun, "in force: %s", strings.Join(settingsOf(run), ", "))
		return
	}
	fw.d.happened(resource.EventFirmwareRun, "failed, %s: %s", code, strings.Join(unset(run), ", "))
}

// unset are the settings that are not in force.
func unset(run *resource.FirmwareRun) []string {
	return settingsOf(run, resource.FirmwareWaiting, resource.FirmwareWritten, resource.FirmwareNotTaken, resource.FirmwareRefused, resource.FirmwareHindered)
}

// result folds the answer to a read or a write.
func (fw firmwares) result(r Result) {
	run := fw.d.rec.Owners.Firmware
	switch {
	case run == nil || fw.s.Intent == nil || run.OwnerUID != fw.s.Intent.Owner.UID:
	case r.Action == ActWriteFirmware && run.Stage == resource.FirmwareWriting:
		fw.written(run, r)
	case r.Action == ActReadFirmware && r.Code != "":
		fw.unread(run, r)
	case r.Action == ActReadFirmware && run.Stage == resource.FirmwareReading:
		fw.readOff(run, r.Firmware.Shown)
	case r.Action == ActReadFirmware && run.Stage == resource.FirmwareChecking:
		fw.readOn(run, r.Firmware.Shown)
	}
}

func (fw firmwares) unread(run *resource.FirmwareRun, r Result) {
	fw.d.watch.FirmwareNext = fw.d.now.Add(pauseOf(firmwarePause, r))
	if run.Stage != resource.FirmwareReading {
		return // the time of POST ends that
	}
	run.Tries++
	if r.Firmware != nil {
		run.Text = cut(r.Firmware.Text, resource.MaxFirmwareText)
	}
	if fw.d.dirty = true; run.Tries >= firmwareTries {
		fw.end(resource.FirmwareFailed, resource.FirmwareUnreadable)
	}
}

// readOff goes on by how the firmware of a server is set that is Off.
func (fw firmwares) readOff(run *resource.FirmwareRun, shown protocol.Firmware) {
	first := run.Passes == 0
	note(run, shown, first)
	run.Text, fw.d.dirty = "", true
	switch readRule(readFacts{
		first: first, writable: shown.Writable, setup: shown.Setup != protocol.OfferedNo, hindered: stood(run, resource.FirmwareHindered), wanted: stood(run, resource.FirmwareWaiting),
		left: stood(run, resource.FirmwareWritten) || stood(run, resource.FirmwareNotTaken) || stood(run, resource.FirmwareRefused), passes: run.Passes < firmwarePasses,
	}) {
	case readsCannot:
		fw.end(resource.FirmwareFailed, resource.FirmwareCannot)
	case readsNoWay:
		fw.end(resource.FirmwareFailed, resource.FirmwareNoWay)
	case readsNoSetup:
		fw.end(resource.FirmwareFailed, resource.FirmwareNoSetup)
	case readsDone:
		fw.end(resource.FirmwareSucceeded, "")
	case readsLeft:
		fw.end(resource.FirmwareFailed, resource.FirmwareLeft)
	case readsWrite:
		run.Passes++
		fw.enter(resource.FirmwareWriting)
	}
}

// readOn goes on by how the firmware of a server is set that is in POST, or in its menus.
func (fw firmwares) readOn(run *resource.FirmwareRun, shown protocol.Firmware) {
	later := stood(run, resource.FirmwareWaiting)
	note(run, shown, false)
	fw.d.dirty = true
	if stood(run, resource.FirmwareWritten) {
		fw.d.watch.FirmwareNext = fw.d.now.Add(firmwarePause)
		return
	}
	if fw.enter(resource.FirmwareReading); !later {
		fw.d.happened(resource.EventFirmwareRun, "POST has taken what was written")
	}
}

// written goes on by what the BMC made of what was written.
func (fw firmwares) written(run *resource.FirmwareRun, r Result) {
	fw.d.dirty = true
	for i := range run.Settings {
		s := &run.Settings[i]
		if s.Standing != resource.FirmwareWaiting || r.Firmware == nil {
			continue
		}
		switch took := r.Firmware.Took[s.Where]; tookRule(took, finally(r.Code)) {
		case resource.FirmwareRefused:
			s.Standing, s.Text = resource.FirmwareRefused, cut(r.Firmware.Text, resource.MaxFirmwareText)
		case resource.FirmwareWritten:
			s.Standing = resource.FirmwareWritten
		case resource.FirmwareInForce:
			s.Standing = resource.FirmwareInForce
		case resource.FirmwareWaiting, resource.FirmwareNotTaken, resource.FirmwareHindered:
		}
		if r.Code != "" && s.Standing == resource.FirmwareWaiting {
			s.Text = cut(r.Firmware.Text, resource.MaxFirmwareText)
		}
	}
	if r.Code != "" && !finally(r.Code) {
		fw.d.watch.FirmwareNext = fw.d.now.Add(pauseOf(firmwarePause, r))
		return
	}
	fw.wrote(run)
}

// wrote goes on after a pass was written: POST is to take what waits.
func (fw firmwares) wrote(run *resource.FirmwareRun) {
	run.Attempt = ""
	if stood(run, resource.FirmwareWritten) {
		fw.enter(resource.FirmwareBooting)
		return
	}
	fw.enter(resource.FirmwareReading)
	fw.d.recheck(0)
}

// finally says whether a refusal is for good: a pause does not mend it.
func finally(c protocol.Code) bool {
	switch c {
	case protocol.CodeUnsupported, protocol.CodeInvalid, protocol.CodeNotFound, protocol.CodeDenied:
		return true
	case protocol.CodeConflict, protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
	}
	return false
}

// tookRule is how a setting stands that was to be written. finally is that the BMC refused the rest for good. The
// first row that fits decides.
//
//	took     | finally | stands
//	in-force | *       | in-force
//	waits    | *       | written
//	unseen   | *       | written
//	later    | *       | wanted
//	nothing  | yes     | refused
//	nothing  | no      | wanted
func tookRule(took FirmwareTook, finally bool) resource.FirmwareStanding {
	switch took {
	case FirmwareTookNow:
		return resource.FirmwareInForce
	case FirmwareTookNext, FirmwareTookDark:
		return resource.FirmwareWritten
	case FirmwareTookNot:
		return resource.FirmwareWaiting
	}
	if finally {
		return resource.FirmwareRefused
	}
	return resource.FirmwareWaiting
}
