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
	// keyStandby is there while the newest hold document says that the agent stands by, or while it has joined so
	// and none of its own was applied. The rack's document says it too; the agent acts once none does.
	keyStandby   = "meta/standby"
	keyAside     = "meta/aside"
	keyPlace     = "meta/place"
	keyBegan     = "meta/began" // last number of an event before the start since which no hub has answered
	probeKey     = "meta/probe"
	keyIntents   = "intent/"
	keyHolds     = "hold/"
	keyReleased  = "released/"
	keyRecords   = "record/"
	keyRequests  = "request/"
	keyAsked     = "asked/"
	keySecrets   = "secret/"
	keyAccounts  = "account/"
	keyDocuments = "doc/"
)

// guarded says whether a key is of the guard set, or may be.
func guarded(key string) bool {
	switch key {
	case keyIncarnation, keyTerm, keyFence, keyEnded, keyReplaced, keyStandby, keyAside, keyPlace, keyRack:
		return true
	}
	for _, prefix := range []string{keyDocuments, keyReleased, keyHolds, keyIntents, keyRecords, keySecrets, keyAccounts} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
