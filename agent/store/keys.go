package store

// The keys that more than one noun knows, or the mirror, or the guard set.
const (
	keyRack        = "rack"
	keyReplaced    = "meta/replaced"
	keyIncarnation = "meta/incarnation"
	keyTerm        = "meta/term"
	keyFence       = "meta/fence"
	keyEnded       = "meta/ended" // the hub's word that the agent's term is over
	keyBegan       = "meta/began" // last number of an event before the start since which no hub has answered
	keySegments    = "segments"
	keyIntents     = "intent/"
	keyHolds       = "hold/"
	keyRecords     = "record/"
	probeKey       = "meta/probe"
	keyAside       = "meta/aside"
	keyPlace       = "meta/place"
)

// docs are the keys of the marks. A mark is written after everything that its document
// says: a document that a crash has cut short is not in force, comes again, and is applied
// over what is there of it. None of that is wrong alone: a hold that lies already, a server
// that has its new intent before others have.
const docs = "doc/"

func tombstoneKey(id string) string { return "released/" + id }

func credentialsKey(bmc string) string { return "secret/" + bmc }

func accountKey(bmc string) string { return "account/" + bmc }
