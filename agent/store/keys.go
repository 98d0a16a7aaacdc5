package store

// The keys that the mirror has.
const (
	keyRack     = "rack"
	keyReplaced = "meta/replaced"
	keyIntents  = "intent/"
	keyHolds    = "hold/"
	keyRecords  = "record/"
)

// keyEnded is where the hub's word is kept that the agent's term is over.
const keyEnded = "meta/ended"
