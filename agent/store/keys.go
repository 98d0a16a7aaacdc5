package store

import "strings"

// The keys that the mirror has.
const (
	keyRack     = "rack"
	keyReplaced = "meta/replaced"
	keyIntents  = "intent/"
	keyHolds    = "hold/"
	keyRecords  = "record/"
)

// Keys that others share.
const (
	keyIncarnation = "meta/incarnation"
	keyTerm        = "meta/term"
	keyFence       = "meta/fence"
	// keyEnded is where the hub's word is kept that the agent's term is over.
	keyEnded     = "meta/ended"
	keyReleased  = "released/"
	keySecrets   = "secret/"
	keyAccounts  = "account/"
	keyDocuments = "doc/"
)

// guarded says whether a key is of the guard set, or may be.
func guarded(key string) bool {
	switch key {
	case keyIncarnation, keyTerm, keyFence, keyEnded, keyReplaced, keyRack:
		return true
	}
	for _, prefix := range []string{keyDocuments, keyReleased, keyHolds, keyIntents, keyRecords, keySecrets, keyAccounts} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
