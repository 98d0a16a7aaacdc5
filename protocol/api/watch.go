package api

import (
	"encoding/json"
	"time"

	"rackboot/protocol/resource"
)

// PathWatches begins the routes that watch the resources of a kind.
const PathWatches = "/v1/watch/"

// PathWatch is the route that watches the resources of a kind.
func PathWatch(kind resource.Kind) string { return PathWatches + kind.Plural() }

// QueryPosition is the query parameter of a watch that goes on where another one ended.
const QueryPosition = "position"

// WatchType is the media type of a watch: one [WatchEvent] a line.
const WatchType = "application/x-ndjson"

const (
	// WatchWait bounds how long one connection watches. Whoever wants to go on connects again, with the last
	// position.
	WatchWait = time.Hour
	// WatchBeat is how long a hub says nothing at most: a bookmark comes at least so often.
	WatchBeat = 10 * time.Second
	// WatchSilence is after how long without a line the other end counts as gone.
	WatchSilence = 3 * WatchBeat
)

// WatchWord is what a line of a watch says.
type WatchWord string

// What lines say.
const (
	// WatchPut: a resource is there, or has changed.
	WatchPut WatchWord = "put"
	// WatchGone: a resource is not there, or not among what was asked for, any more. Its reader may never have
	// had it.
	WatchGone WatchWord = "gone"
	// WatchAgain: all that is there follows, up to synced. What is not among it is gone.
	WatchAgain WatchWord = "again"
	// WatchSynced: up to here it was what there was before; from now on it is what changes.
	WatchSynced WatchWord = "synced"
	// WatchBookmark: nothing has changed; its position may be a newer one.
	WatchBookmark WatchWord = "bookmark"
	// WatchEnd: the hub ends the watch, and says why.
	WatchEnd WatchWord = "end"
)

// WatchWords lists what lines say.
func WatchWords() []WatchWord {
	return []WatchWord{WatchPut, WatchGone, WatchAgain, WatchSynced, WatchBookmark, WatchEnd}
}

// WatchEvent is one line of a watch. A reader skips words that it does not know.
type WatchEvent struct {
	Type WatchWord `json:"type" doc:"put, gone, again, synced, bookmark or end"`
	// Name is that of the resource that is put or gone.
	Name string `json:"name,omitempty"`
	// Object is the resource that is put, as a list shows it. When its server was read last, and when its
	// agent reported, is of the last change of anything else.
	Object json.RawMessage `json:"object,omitempty"`
	// Rack is that of the object; absent where it is in none, or in one that the caller may not see.
	Rack string `json:"rack,omitempty"`
	// Digest is the same for as long as the object says the same, also after a restart of the hub.
	Digest string `json:"digest,omitempty"`
	// Position is from where a watch of the same kind and selectors goes on: with synced, and with a bookmark
	// where there is one.
	Position string `json:"position,omitempty"`
	// Incomplete says with synced that there may be more; absent means that nothing is missing.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
	// Problem is why the watch ends.
	Problem *Problem `json:"problem,omitempty"`
}
