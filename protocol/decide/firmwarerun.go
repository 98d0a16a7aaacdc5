package decide

import (
	"time"

	"rackboot/protocol/resource"
)

// Bounds of writing firmware settings.
const (
	// firmwarePasses is how often settings are written and taken by POST: three resources may have a job
	// each (BIOS attributes, Secure Boot, boot order), and one pass may be interrupted.
	firmwarePasses = 4
	// firmwareTries is how often in a row it may fail to read, or to write.
	firmwareTries = 5
	firmwarePause = 15 * time.Second
	// postLeast is how long nothing is believed after the power-on, unless the firmware is in its menus by
	// then: some BMCs show what was written before POST has taken it.
	postLeast = 3 * time.Minute
	// postLimit is POST of a large server that takes its settings, with the restarts that come with it.
	postLimit = 15 * time.Minute
)

// setupIs is what became of the power-on of a pass.
type setupIs string

const (
	setupNone   setupIs = "none"
	setupBooted setupIs = "booted" // firmware took the override
	setupFailed setupIs = "failed"
)

// firmwareFacts is what matters of a server whose owner wants settings of its firmware written, and of
// which no power-on is under way.
type firmwareFacts struct {
	stage   resource.FirmwareStage // empty before it is begun
	power   running
	setup   setupIs
	pending bool // an On of ours may still take effect
	used    bool // it was begun before, and what became of it is lost
	heard   bool // the hub was, since the agent started
	cleared bool // it needs no approval, or there is one
	early   bool // a pause is not over, or POST
	expired bool // POST should be over
}

// firmwareDoes is what to do about it.
type firmwareDoes string

const (
	firmwareLook    firmwareDoes = "look"
	firmwareStop    firmwareDoes = "stop"
	firmwareRest    firmwareDoes = "nothing"
	firmwareGiveUp  firmwareDoes = "give up"
	firmwareLater   firmwareDoes = "later"
	firmwareRead    firmwareDoes = "read"
	firmwareAgain   firmwareDoes = "go back"
	firmwareCheck   firmwareDoes = "check"
	firmwareQuiet   firmwareDoes = "wait"
	firmwareLost    firmwareDoes = "say it is spent"
	firmwareHub     firmwareDoes = "wait for the hub"
	firmwareApprove firmwareDoes = "say it is not approved"
	firmwareBegin   firmwareDoes = "begin"
	firmwareWrite   firmwareDoes = "write"
	firmwareBoot    firmwareDoes = "power on"
	firmwareFail    firmwareDoes = "count"
)

// firmwareRule says what to do next to have settings written and in force. The first row that fits decides.
//
//	stage     | power | setup  | pending | used | heard | cleared | early | expired | then
//	*         | other | *      | *       | *    | *     | *       | *     | *       | look
//	Succeeded | on    | *      | *       | *    | *     | *       | *     | *       | stop
//	Failed    | on    | *      | *       | *    | *     | *       | *     | *       | stop
//	Succeeded | *     | *      | *       | *    | *     | *       | *     | *       | nothing
//	Failed    | *     | *      | *       | *    | *     | *       | *     | *       | nothing
//	Checking  | off   | *      | *       | *    | *     | *       | *     | *       | go back
//	Checking  | on    | *      | *       | *    | *     | *       | *     | yes     | give up
//	Checking  | on    | *      | *       | *    | *     | *       | yes   | no      | later
//	Checking  | on    | *      | *       | *    | *     | *       | no    | no      | read
//	Booting   | on    | booted | *       | *    | *     | *       | *     | *       | check
//	*         | on    | *      | *       | *    | *     | *       | *     | *       | stop
//	*         | off   | *      | yes     | *    | *     | *       | *     | *       | wait
//	none      | off   | *      | no      | yes  | *     | *       | *     | *       | say it is spent
//	*         | off   | *      | no      | *    | no    | *       | *     | *       | wait for the hub
//	none      | off   | *      | no      | no   | yes   | no      | *     | *       | say it is not approved
//	none      | off   | *      | no      | no   | yes   | yes     | *     | *       | begin
//	Booting   | off   | booted | no      | *    | yes   | *       | *     | *       | go back
//	Booting   | off   | failed | no      | *    | yes   | *       | *     | *       | count
//	*         | off   | *      | no      | *    | yes   | *       | yes   | *       | later
//	Reading   | off   | *      | no      | *    | yes   | *       | no    | *       | read
//	Writing   | off   | *      | no      | *    | yes   | *       | no    | *       | write
//	Booting   | off   | none   | no      | *    | yes   | *       | no    | *       | power on
//
// What is On is stopped first: settings are written at Off only, and nothing but the power-on of this pass
// counts. What was begun is not approved again: it is on disk, and a run of another owner is another one.
func firmwareRule(f firmwareFacts) firmwareDoes { return verdict(firmwareRules, f) }

var firmwareRules = []rule[firmwareFacts, firmwareDoes]{
	{"its power is not settled", func(f firmwareFacts) bool { return f.power == isOther }, firmwareLook},
	{"it is over, and the server runs", func(f firmwareFacts) bool { return f.stage.Over() && f.power == isOn }, firmwareStop},
	{"it is over", func(f firmwareFacts) bool { return f.stage.Over() }, firmwareRest},
	{"the server went Off in POST", func(f firmwareFacts) bool { return f.checks() && f.power == isOff }, firmwareAgain},
	{"POST took too long", func(f firmwareFacts) bool { return f.checks() && f.expired }, firmwareGiveUp},
	{"POST goes on", func(f firmwareFacts) bool { return f.checks() && f.early }, firmwareLater},
	{"POST may be over", firmwareFacts.checks, firmwareRead},
	{"firmware took the override", func(f firmwareFacts) bool {
		return f.stage == resource.FirmwareBooting && f.power == isOn && f.setup == setupBooted
	}, firmwareCheck},
	{"the server runs", func(f firmwareFacts) bool { return f.power == isOn }, firmwareStop},
	{"it may come on yet", func(f firmwareFacts) bool { return f.pending }, firmwareQuiet},
	{"what became of it is lost", func(f firmwareFacts) bool { return f.stage == "" && f.used }, firmwareLost},
	{"the hub was not heard", func(f firmwareFacts) bool { return !f.heard }, firmwareHub},
	{"nobody approved it", func(f firmwareFacts) bool { return f.stage == "" && !f.cleared }, firmwareApprove},
	{"it is not begun", func(f firmwareFacts) bool { return f.stage == "" }, firmwareBegin},
	{"the server went Off again", func(f firmwareFacts) bool { return f.stage == resource.FirmwareBooting && f.setup == setupBooted }, firmwareAgain},
	{"the power-on failed", func(f firmwareFacts) bool { return f.stage == resource.FirmwareBooting && f.setup == setupFailed }, firmwareFail},
	{"the pause is not over", func(f firmwareFacts) bool { return f.early }, firmwareLater},
	{"it is to be read", func(f firmwareFacts) bool { return f.stage == resource.FirmwareReading }, firmwareRead},
	{"it is to be written", func(f firmwareFacts) bool { return f.stage == resource.FirmwareWriting }, firmwareWrite},
	{"POST is to take it", func(firmwareFacts) bool { return true }, firmwareBoot},
}

func (f firmwareFacts) checks() bool { return f.stage == resource.FirmwareChecking }
