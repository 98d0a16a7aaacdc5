package decide

import "time"

// How long a BMC that has accepted On may show Off before the server comes up. On is sent again
// sooner, since most that show no effect were dropped (see onResend); but nothing is proved, and
// nothing new begun, while one may still come. What a BMC was seen to take is no bound of what it
// may take, and 45 s were seen where seconds are usual. So it is waited for ten times that, but no
// longer than for a BMC that was never seen to do it, and always onMargin beyond.
const (
	onUnseen = 120 * time.Second
	onMargin = 30 * time.Second
	onTimes  = 10
)

// onBound is the longest that an On whose effect was not seen may take, by the longest that this
// BMC was seen to take; zero is never.
//
//	seen  | bound
//	0s    | 2m0s
//	1s    | 31s
//	5s    | 50s
//	10s   | 1m40s
//	45s   | 2m0s
//	1m50s | 2m20s
//	5m0s  | 5m30s
//	more  | 5m30s
func onBound(seen time.Duration) time.Duration {
	if seen <= 0 {
		return onUnseen
	}
	seen = min(seen, onTimeout)
	return max(seen+onMargin, min(onTimes*seen, onUnseen))
}
