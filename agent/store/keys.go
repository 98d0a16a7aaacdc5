package store

// The keys that the mirror has.
const (
	keyRack     = "rack"
	keyReplaced = "meta/replaced"
	keyAside    = "meta/aside"
	keyIntents  = "intent/"
	keyHolds    = "hold/"
	keyRecords  = "record/"
)
