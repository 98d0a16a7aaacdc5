package store

// The keys that the mirror has.
const (
	keyRack     = "rack"
	keyReplaced = "meta/replaced"
	keyIntents  = "intent/"
	keyHolds    = "hold/"
	keyRecords  = "record/"
)
