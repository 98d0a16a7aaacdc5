package mirror

import "time"

// The defaults of Config, and bounds that nobody needs to move.
const (
	defaultQuota    = 20 << 30
	defaultMaxFile  = 16 << 30
	defaultFresh    = 10 * time.Minute
	defaultNegative = 30 * time.Second
	defaultFetches  = 16
	defaultQueue    = 256
	defaultConnect  = 10 * time.Second
	defaultHeader   = 30 * time.Second
	defaultIdle     = 30 * time.Second
	defaultOverall  = 6 * time.Hour
	defaultWait     = time.Minute
	defaultPatience = 3 * time.Second
	defaultAhead    = 8 << 20

	maxRedirects   = 5
	maxResumes     = 5
	maxHeaderBytes = 64 << 10
	maxAbsent      = 10_000 // names that are known to be absent
	maxWants       = 256    // files of a pin
	restAfter      = 15 * time.Second
	probeEvery     = 30 * time.Second
	userAgent      = "rackboot-agent"
)
