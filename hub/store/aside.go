package store

import "strings"

// Keys that are aside are read and written by who needs them alone: they are not in the mirror,
// so that a write to one wakes nobody and makes no view of the fleet old.
// The keys of rules are many, and read by whoever changes who has them.
func aside(key string) bool {
	return key == probeKey || strings.HasPrefix(key, auditKey) || strings.HasPrefix(key, ruleBucket+".")
}

// auditKey has the last entry of the audit log that is known to be in its file; of each of several hubs, below it.
const auditKey = "audit.head"

// probeKey is written to find out whether the store can be. Nobody reads it but Probe. Its
// revisions take the place of one another.
const probeKey = "probe.ready"
