package decide

// readyFacts is what a server may need before it is booted, that has no attempt under way.
type readyFacts struct {
	stopping  bool
	trigger   triggered
	power     running
	discovery discoveryIs
	strange   bool // the server shows another identity
	boot      bool // the hub has said what it boots
}

// discoveryIs is how far the discovery is that owns a server.
type discoveryIs string

const (
	discoveryNone  discoveryIs = "none"  // there is none, or it goes on
	discoveryOver  discoveryIs = "over"  // the server was discovered
	discoveryStays discoveryIs = "stays" // its attempt failed, and its image runs
)

// readies is what to do about it.
type readies string

const (
	readyEndStop  readies = "end stop"
	readyStop     readies = "stop"
	readyDiscover readies = "leave"
	readyHalt     readies = "stop the image"
	readyNothing  readies = "nothing"
	readyBoot     readies = "boot"
)

// readyRule says what comes before a boot. The first row that fits decides.
//
//	stopping | trigger | power | discovery | strange | boot | then
//	yes      | *       | off   | *         | *       | *    | end stop
//	yes      | *       | *     | *         | *       | *    | stop
//	no       | off     | *     | *         | *       | *    | stop
//	no       | *       | *     | over      | *       | *    | leave
//	no       | *       | *     | stays     | *       | *    | stop the image
//	no       | *       | *     | none      | yes     | *    | nothing
//	no       | *       | *     | none      | no      | no   | nothing
//	no       | *       | *     | none      | no      | yes  | boot
//
// What was sent cannot be called back, and what was asked is done: the server goes to Off, and
// starts again from there. Of another identity the conditions tell; of an image that the hub
// has not validated yet, the hub does.
func readyRule(f readyFacts) readies { return verdict(readyRules, f) }

var readyRules = []rule[readyFacts, readies]{
	{"a stop is over", func(f readyFacts) bool { return f.stopping && f.power == isOff }, readyEndStop},
	{"a stop is under way", func(f readyFacts) bool { return f.stopping }, readyStop},
	{"a stop was asked for", func(f readyFacts) bool { return f.trigger == triggerOff }, readyStop},
	{"it was discovered", func(f readyFacts) bool { return f.discovery == discoveryOver }, readyDiscover},
	{"the image of a discovery stays", func(f readyFacts) bool { return f.discovery == discoveryStays }, readyHalt},
	{"it shows another identity", func(f readyFacts) bool { return f.strange }, readyNothing},
	{"nothing says what it boots", func(f readyFacts) bool { return !f.boot }, readyNothing},
	{"it may boot", func(readyFacts) bool { return true }, readyBoot},
}

// restartDue is whether a resume begins a boot from disk of a server that is not Off.
type restartDue string

const (
	restartNone  restartDue = "none"
	restartLater restartDue = "later"
	restartNow   restartDue = "now"
)

// powerFacts is what matters of the power of a server that may be booted.
type powerFacts struct {
	restart restartDue
	power   running
	taken   bool // it runs for somebody else, and is stopped
	ran     bool // what is booted at each power-on runs
	barred  bool // a discovery found it On, and may not stop it
	odd     bool // it runs what was not ordered, and nothing else says so
	pending bool // an On of ours may still take effect
	early   bool // for another attempt
}

// powers is what to do about it.
type powers string

const (
	powerLater   powers = "later"
	powerRestart powers = "restart"
	powerStop    powers = "stop"
	powerRuns    powers = "nothing"
	powerBarred  powers = "say it is barred"
	powerOdd     powers = "say it is On"
	powerLook    powers = "look"
	powerWait    powers = "wait"
	powerBoot    powers = "boot"
)

// powerRule says what to do by the power of a server that may be booted. The first row that
// fits decides.
//
//	restart | power | taken | ran | barred | odd | pending | early | then
//	later   | *     | *     | *   | *      | *   | *       | *     | later
//	now     | *     | *     | *   | *      | *   | *       | *     | restart
//	none    | on    | yes   | *   | *      | *   | *       | *     | stop
//	none    | on    | no    | yes | *      | *   | *       | *     | nothing
//	none    | on    | no    | no  | yes    | *   | *       | *     | say it is barred
//	none    | on    | no    | no  | no     | yes | *       | *     | say it is On
//	none    | on    | no    | no  | no     | no  | *       | *     | nothing
//	none    | other | *     | *   | *      | *   | *       | *     | look
//	none    | off   | *     | *   | *      | *   | yes     | *     | wait
//	none    | off   | *     | *   | *      | *   | no      | yes   | later
//	none    | off   | *     | *   | *      | *   | no      | no    | boot
func powerRule(f powerFacts) powers { return verdict(powerRules, f) }

var powerRules = []rule[powerFacts, powers]{
	{"a resume restarts it later", func(f powerFacts) bool { return f.restart == restartLater }, powerLater},
	{"a resume restarts it", func(f powerFacts) bool { return f.restart == restartNow }, powerRestart},
	{"it runs for somebody else", func(f powerFacts) bool { return f.power == isOn && f.taken }, powerStop},
	{"it runs as ordered", func(f powerFacts) bool { return f.power == isOn && f.ran }, powerRuns},
	{"a discovery may not stop it", func(f powerFacts) bool { return f.power == isOn && f.barred }, powerBarred},
	{"it runs what was not ordered", func(f powerFacts) bool { return f.power == isOn && f.odd }, powerOdd},
	{"it is On", func(f powerFacts) bool { return f.power == isOn }, powerRuns},
	{"its power is not settled", func(f powerFacts) bool { return f.power == isOther }, powerLook},
	{"it may come on yet", func(f powerFacts) bool { return f.pending }, powerWait},
	{"the attempt before is not long ago", func(f powerFacts) bool { return f.early }, powerLater},
	{"it is Off", func(powerFacts) bool { return true }, powerBoot},
}

// beginFacts is what matters to a server that is Off and whose BMC is as it shall be.
type beginFacts struct {
	done    bool // its system is installed
	wentOff bool // by itself
	rearm   leftIs
}

// begins is what is begun.
type begins string

const (
	beginNothing begins = "nothing"
	beginDisk    begins = "disk"
	beginRearm   begins = "drop rearm"
	beginFirst   begins = "first boot"
)

// beginRule says what is begun. The first row that fits decides.
//
//	done | went off | rearm   | then
//	yes  | yes      | *       | nothing
//	yes  | no       | *       | disk
//	no   | *        | nothing | first boot
//	no   | *        | *       | drop rearm
//
// An installed server that went Off by itself waits for an operator (P5). What may be left of a
// rearm is the override that a boot from disk writes; before another it is cleared.
func beginRule(f beginFacts) begins { return verdict(beginRules, f) }

var beginRules = []rule[beginFacts, begins]{
	{"it went Off by itself", func(f beginFacts) bool { return f.done && f.wentOff }, beginNothing},
	{"it is installed", func(f beginFacts) bool { return f.done }, beginDisk},
	{"the disk was armed for restarts", func(f beginFacts) bool { return f.rearm != leftNothing }, beginRearm},
	{"it is not installed", func(beginFacts) bool { return true }, beginFirst},
}
