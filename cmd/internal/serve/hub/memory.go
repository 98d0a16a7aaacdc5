package hub

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// garbage is how much of what is in use may be garbage before it is collected, in percent. A hub at rest
	// makes little of it, and one that installs a fleet waits for the disk.
	garbage = 50
	// returnEvery is how often it is looked at what can be given back.
	returnEvery = time.Minute
	// unused is how much has to be, in bytes; and a quarter of what is used.
	unused = 64 << 20
)

// saveMemory has garbage collected sooner than Go does by itself, unless the environment says how soon, and gives
// back until ctx ends what was needed once: after a fleet was installed Go would keep for long what the store's blocks
// took (docs/BENCHMARKS.md). It begins after returnEvery: a hub that starts fills its memory, and has no time.
func saveMemory(ctx context.Context) {
	tick := time.NewTicker(returnEvery)
	defer tick.Stop()
	var before heap
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if first && os.Getenv("GOGC") == "" {
			debug.SetGCPercent(garbage)
		}
		now := read()
		if now.tooMuch() || now.collections == before.collections {
			debug.FreeOSMemory()
			now = read()
		}
		before = now
	}
}

// heap is what the heap has of the system, in bytes.
type heap struct {
	live        uint64 // what live objects took at the last collection
	beyond      uint64 // all else
	collections uint64 // so far; where there was none for long, nobody knows what is live
}

func read() heap {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	live := s[0].Value.Uint64()
	all := s[1].Value.Uint64() + s[2].Value.Uint64() + s[3].Value.Uint64()
	return heap{live, max(live, all) - live, s[4].Value.Uint64()}
}

// tooMuch reports whether a collection is worth what it gives back. That what may be garbage by itself
// counts for half: it comes again.
func (h heap) tooMuch() bool {
	often := h.live * garbage / 100 / 2
	return h.beyond > often && h.beyond-often > max(unused, h.live/4)
}
