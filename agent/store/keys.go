package store

import "strings"

// The keys that more than one noun knows, or the mirror, or the guard set.
const (
	keyRack        = "rack"
	keySegments    = "segments"
	keyIncarnation = "meta/incarnation"
	keyTerm        = "meta/term"
	keyFence       = "meta/fence"
	keyReplaced    = "meta/replaced"
	keyEnded       = "meta/ended" // the hub's word that the agent's term is over
	keyHubHead     = "meta/hub-head"
	keyAside       = "meta/aside"
	keyPlace       = "meta/place"
	keyBegan       = "meta/began" // last number of an event before the start since which no hub has answered
	probeKey       = "meta/probe"
	keyIntents     = "intent/"
	keyHolds       = "hold/"
	keyReleased    = "released/"
	keyRecords     = "record/"
	keySecrets     = "secret/"
	keyAccounts    = "account/"
	keyDocuments   = "doc/"
)

// guarded says whether a key is of the guard set, or may be.
func guarded(key string) bool {
	switch key {
	case keyIncarnation, keyTerm, keyFence, keyEnded, keyReplaced, keyAside, keyPlace, keyRack:
		return true
	}
	for _, prefix := range []string{keyDocuments, keyReleased, keyHolds, keyIntents, keyRecords, keySecrets, keyAccounts} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
