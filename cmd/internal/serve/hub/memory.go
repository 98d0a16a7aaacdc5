package hub

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// most and least are how much of what is live may be garbage before it is collected, in percent. A hub that installs a
	// fleet makes much of it, and each collection goes over all that is live: 1,000 racks took a quarter of its processors
	// with 50. One at rest makes little. It may have more from one look to the next, so that half a minute of haste, as
	// after a power cut, does not double what is resident.
	most, least, more = 100, 10, 10
	// lookEvery is how often it is looked at how much is made. A hub at rest may have as much as it makes in apart of these.
	lookEvery, apart = 5 * time.Second, 3
	// returnEvery is how many looks later it is looked at what can be given back.
	returnEvery = 12
	// unused is how much has to be, in bytes; and a quarter of what is used.
	unused = 64 << 20
)

// saveMemory has garbage collected sooner than Go does by itself, and of a hub at rest sooner still, unless the environment
// says how soon, and gives back until ctx ends what was needed once: after a fleet was installed Go would keep for long what the
// store's blocks took (docs/BENCHMARKS.md). It begins after a minute: a hub that starts fills its memory, and has no time.
func saveMemory(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	garbage, last, returned := 100, read(), heap{}
	for looks := 1; ; looks++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := read()
		if looks >= returnEvery && os.Getenv("GOGC") == "" {
			if next := min(percent(now.live, now.allocated-last.allocated), garbage+more); next != garbage { // all stops for a moment
				debug.SetGCPercent(next)
				garbage = next
			}
		}
		last = now
		if looks%returnEvery > 0 {
			continue
		}
		if now.tooMuch(garbage) || now.collections == returned.collections {
			debug.FreeOSMemory()
			last = read()
		}
		returned = last
	}
}

// heap is what the heap has of the system, in bytes.
type heap struct {
	live        uint64 // what live objects took at the last collection
	beyond      uint64 // all else
	collections uint64 // so far; where there was none for long, nobody knows what is live
	allocated   uint64 // so far
}

// percent is how much of what is live may be garbage where so many bytes were allocated in lookEvery, in steps of five.
func percent(live, allocated uint64) int {
	return int(min(max(20*apart*allocated/max(live, 1)*5, least), most))
}

func read() heap {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	live := s[0].Value.Uint64()
	all := s[1].Value.Uint64() + s[2].Value.Uint64() + s[3].Value.Uint64()
	return heap{live, max(live, all) - live, s[4].Value.Uint64(), s[5].Value.Uint64()}
}

// tooMuch reports whether a collection is worth what it gives back. That what may be garbage by itself
// counts for half: it comes again.
func (h heap) tooMuch(garbage int) bool {
	often := h.live * uint64(garbage) / 100 / 2
	return h.beyond > often && h.beyond-often > max(unused, h.live/4)
}
