package mirror

// The results of opening a file.
const (
	resultHit     = "hit"     // fresh, or just checked by somebody else
	resultRenewed = "renewed" // checked and the same
	resultMiss    = "miss"    // fetched, or being fetched
	resultStale   = "stale"
	resultAbsent  = "absent"
	resultError   = "error"
)
