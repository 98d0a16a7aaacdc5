package mirror

import "sync/atomic"

// Opens count how files of a tree were found since the start. Served were given from the
// cache, of which Stale could not be compared with the other side; Fetched had to be fetched.
// Absent is at the other side neither, and Failed could not be had.
type Opens struct{ Served, Stale, Fetched, Absent, Failed int64 }

// opens are counted side by side.
type opens struct{ served, stale, fetched, absent, failed atomic.Int64 }

func (o *opens) add(result string) {
	switch result {
	case resultHit, resultRenewed:
		o.served.Add(1)
	case resultStale:
		o.served.Add(1)
		o.stale.Add(1)
	case resultMiss:
		o.fetched.Add(1)
	case resultAbsent:
		o.absent.Add(1)
	case resultError:
		o.failed.Add(1)
	}
}

func (o *opens) now() Opens {
	return Opens{o.served.Load(), o.stale.Load(), o.fetched.Load(), o.absent.Load(), o.failed.Load()}
}
