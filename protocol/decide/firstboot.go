package decide

// methodIs is whether a server can be booted by the method that its claim prescribes.
type methodIs string

const (
	methodFits    methodIs = "fits"
	methodCannot  methodIs = "cannot"  // its BMC does not insert images
	methodAbsent  methodIs = "absent"  // its BMC has no such boot target
	methodOff     methodIs = "off"     // its firmware has it switched off
	methodNoURI   methodIs = "without" // its BMC takes no URL, and the server has reach uri
	methodUnknown methodIs = "unknown"
)

// chainIs is whether the image has a chain of files for the server.
type chainIs string

const (
	chainFits  chainIs = "fits"
	chainNone  chainIs = "none"
	chainByURI chainIs = "asks" // by DHCP, and the server has reach uri
)

// grantIs is whether a grant permits the boot.
type grantIs string

const (
	grantFit     grantIs = "fits"
	grantMissing grantIs = "missing"
	grantUnread  grantIs = "unread" // it cannot be opened, or was not signed as it shall be
	grantOther   grantIs = "other"  // it is for another boot
)

// firstFacts is what a network boot needs.
type firstFacts struct {
	method methodIs
	chain  chainIs
	grant  grantIs
	lacks  needs // what needs a way through the BMC, and has none
	kept   bool  // another generation was installed, and the grant does not install over it
}

// firsts is what stands against a network boot.
type firsts string

const (
	firstNoMedia  firsts = "no media"
	firstAbsent   firsts = "not offered"
	firstOff      firsts = "switched off"
	firstNoPlace  firsts = "no place for a URL"
	firstNoMethod firsts = "no method"
	firstNoChain  firsts = "no chain"
	firstNoURI    firsts = "no chain by URI"
	firstSecrets  firsts = "no way for secrets"
	firstEvidence firsts = "no way for evidence"
	firstUnread   firsts = "grant unread"
	firstMissing  firsts = "grant missing"
	firstMisfit   firsts = "grant misfits"
	firstKept     firsts = "kept"
	firstGranted  firsts = "granted"
)

// firstRule says whether a server has all that a network boot needs (P7). The first row that fits
// decides.
//
//	method  | chain | lacks    | grant   | kept | then
//	cannot  | *     | *        | *       | *    | no media
//	absent  | *     | *        | *       | *    | not offered
//	off     | *     | *        | *       | *    | switched off
//	without | *     | *        | *       | *    | no place for a URL
//	unknown | *     | *        | *       | *    | no method
//	fits    | none  | *        | *       | *    | no chain
//	fits    | asks  | *        | *       | *    | no chain by URI
//	fits    | fits  | secrets  | *       | *    | no way for secrets
//	fits    | fits  | evidence | *       | *    | no way for evidence
//	fits    | fits  | nothing  | unread  | *    | grant unread
//	fits    | fits  | nothing  | missing | *    | grant missing
//	fits    | fits  | nothing  | other   | *    | grant misfits
//	fits    | fits  | nothing  | fits    | yes  | kept
//	fits    | fits  | nothing  | fits    | no   | granted
func firstRule(f firstFacts) firsts { return verdict(firstRules, f) }

var firstRules = []rule[firstFacts, firsts]{
	{"the BMC inserts no images", func(f firstFacts) bool { return f.method == methodCannot }, firstNoMedia},
	{"the BMC has no such target", func(f firstFacts) bool { return f.method == methodAbsent }, firstAbsent},
	{"firmware has it switched off", func(f firstFacts) bool { return f.method == methodOff }, firstOff},
	{"the BMC takes no URL", func(f firstFacts) bool { return f.method == methodNoURI }, firstNoPlace},
	{"no such method is known", func(f firstFacts) bool { return f.method == methodUnknown }, firstNoMethod},
	{"no chain fits the machine", func(f firstFacts) bool { return f.chain == chainNone }, firstNoChain},
	{"the chain asks by DHCP", func(f firstFacts) bool { return f.chain == chainByURI }, firstNoURI},
	{"secrets have no way", func(f firstFacts) bool { return f.lacks == needsSecrets }, firstSecrets},
	{"evidence has no way", func(f firstFacts) bool { return f.lacks == needsEvidence }, firstEvidence},
	{"the grant cannot be read", func(f firstFacts) bool { return f.grant == grantUnread }, firstUnread},
	{"there is no grant", func(f firstFacts) bool { return f.grant == grantMissing }, firstMissing},
	{"the grant is for another boot", func(f firstFacts) bool { return f.grant == grantOther }, firstMisfit},
	{"another generation is installed", func(f firstFacts) bool { return f.kept }, firstKept},
	{"everything is there", func(firstFacts) bool { return true }, firstGranted},
}

// grantFacts is what matters of the use of a grant that fits.
type grantFacts struct {
	ran     bool // its files were fetched, and each boot waits for an order
	foreign bool // it was given to another incarnation of the agent
	left    bool // it has attempts left
	local   bool // the files are here
	heard   bool // the hub has confirmed it since the agent started
}

// granted is what becomes of a grant that fits.
type granted string

const (
	grantUse     granted = "use"
	grantRan     granted = "ran"
	grantForeign granted = "foreign"
	grantSpent   granted = "spent"
	grantFiles   granted = "files"
	grantWaits   granted = "waits"
)

// grantRule says whether a grant may be used for a new attempt. The first row that
// fits decides.
//
//	ran | given   | left | files | hub     | answer
//	yes | *       | *    | *     | *       | ran
//	no  | foreign | *    | *     | *       | foreign
//	no  | own     | no   | *     | *       | spent
//	no  | own     | yes  | away  | *       | files
//	no  | own     | yes  | local | unheard | waits
//	no  | own     | yes  | local | heard   | use
//
// Another incarnation than the one that the grant was given to cannot know whether
// it was used. One that the hub was not heard to confirm may be a rolled-back one.
func grantRule(f grantFacts) granted { return verdict(grantRules, f) }

var grantRules = []rule[grantFacts, granted]{
	{"each boot waits for an order", func(f grantFacts) bool { return f.ran }, grantRan},
	{"it was given to another disk", func(f grantFacts) bool { return f.foreign }, grantForeign},
	{"it is used up", func(f grantFacts) bool { return !f.left }, grantSpent},
	{"the files are not here yet", func(f grantFacts) bool { return !f.local }, grantFiles},
	{"the hub has not confirmed it", func(f grantFacts) bool { return !f.heard }, grantWaits},
	{"it may be used", func(grantFacts) bool { return true }, grantUse},
}
