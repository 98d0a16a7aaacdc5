package store

// The keys that the mirror has.
const (
	keyRack     = "rack"
	keyReplaced = "meta/replaced"
	keyAside    = "meta/aside"
	keyPlace    = "meta/place"
	keyIntents  = "intent/"
	keyHolds    = "hold/"
	keyRecords  = "record/"
)
