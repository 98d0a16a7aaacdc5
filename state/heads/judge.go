package heads

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// State is what a store has when it is opened.
type State struct {
	Store   string // its id; empty where it has none
	Streams map[string]Extent
	// Keys are the live ones that checkpoints count. Deleted are the revisions of the deletions that
	// there are.
	Keys    map[string]Key
	Deleted map[string]uint64
	// Unreadable are keys that are there and whose newest value cannot be read.
	Unreadable []string
}

// How says how a key was lost.
type How string

// How a key is lost.
const (
	Missing    How = "missing"    // it was there, and was not deleted
	Older      How = "older"      // an earlier value is there
	Altered    How = "altered"    // another value is there, at the same revision
	Unreadable How = "unreadable" // it is there, and cannot be read
	Back       How = "back"       // it was deleted, and is there again
)

// lossRule says how a live key of a checkpoint, or one that is live now, was lost; "" is not at all. The
// first row that fits decides.
//
//	readable | was | now     | since | lost
//	no       | *   | *       | *     | unreadable
//	*        | no  | there   | no    | back
//	*        | no  | *       | *     |
//	*        | yes | there   | *     |
//	*        | yes | newer   | *     |
//	*        | yes | same    | *     |
//	*        | yes | altered | *     | altered
//	*        | yes | older   | *     | older
//	*        | yes | absent  | yes   |
//	*        | yes | absent  | no    | missing
//
// since says, of a key that is there, that it was written after the checkpoint, and of one that is not,
// that a deletion is there which is newer than what was.
func lossRule(readable, was bool, now presence, since bool) How {
	switch {
	case !readable:
		return Unreadable
	case !was && now == there && !since:
		return Back
	case !was, now == there, now == newer, now == same, now == absent && since:
		return ""
	case now == absent:
		return Missing
	case now == altered:
		return Altered
	}
	return Older
}

// presence is how a key is there, against the checkpoint.
type presence string

const (
	absent  presence = "absent"
	older   presence = "older"
	same    presence = "same"
	altered presence = "altered"
	newer   presence = "newer"
	there   presence = "there" // the checkpoint does not have it
)

func presenceOf(was Key, had bool, now Key, has bool) presence {
	switch {
	case !has:
		return absent
	case !had:
		return there
	case now.Revision > was.Revision:
		return newer
	case now.Revision < was.Revision:
		return older
	case now.Sum != was.Sum:
		return altered
	}
	return same
}

// Item is a key that was lost.
type Item struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
	How  How    `json:"how"`
}

// String is how people read it.
func (i Item) String() string {
	out := i.Kind + "." + i.Name + " (" + string(i.How)
	if i.Note != "" {
		out += ": " + i.Note
	}
	return out + ")"
}

// Shrunk is a stream that has less than it had.
type Shrunk struct {
	Stream string `json:"stream"`
	Was    Extent `json:"was"`
	Is     Extent `json:"is"`
}

// Loss is what a store has lost. What was written after the checkpoint and is lost too is not in it: in a
// store that has lost something, the absence of nothing is certain.
type Loss struct {
	// Store is the id that the store had, and Other the one that it has, if that is another.
	Store string `json:"store"`
	Other string `json:"other,omitempty"`
	// All says that the store has nothing that says whose it is.
	All bool `json:"all,omitempty"`
	// Unlisted says that names may be missing in Items: it is not known what there was.
	Unlisted bool     `json:"unlisted,omitempty"`
	Streams  []Shrunk `json:"streams,omitempty"`
	Items    []Item   `json:"items,omitempty"`
	// Counts are those of the kinds whose keys are not those of the checkpoint, where names are not
	// known.
	Counts map[string]uint64 `json:"counts,omitempty"`
}

// Judge says what a store has lost; nil is nothing.
func Judge(was Record, now State) *Loss {
	l := &Loss{Store: was.Store, Unlisted: was.Known && !was.Whole}
	if !was.Known {
		for _, key := range now.Unreadable {
			l.Items = append(l.Items, Item{Kind: Kind(key), Name: Name(key), How: Unreadable})
		}
		l.Store, l.Unlisted = now.Store, true
		return l.orNil()
	}
	switch {
	case now.Store == "":
		l.All = true
	case now.Store != was.Store:
		l.Other = now.Store
	}
	for _, name := range slices.Sorted(maps.Keys(was.Streams)) {
		if is := now.Streams[name]; !is.Covers(was.Streams[name]) {
			l.Streams = append(l.Streams, Shrunk{name, was.Streams[name], is})
		}
	}
	bad := make(map[string]bool, len(now.Unreadable))
	for _, key := range now.Unreadable {
		bad[key] = true
	}
	look := func(key string, had bool, w Key) {
		n, has := now.Keys[key]
		since := has && n.Revision > was.Sequence || !has && now.Deleted[key] > w.Revision
		if how := lossRule(!bad[key], had, presenceOf(w, had, n, has), since); how != "" {
			l.Items = append(l.Items, Item{Kind(key), Name(key), cmp.Or(w.Note, n.Note), how})
		}
		delete(bad, key)
	}
	if was.Whole {
		for key, w := range was.Keys {
			look(key, true, w)
		}
		for key := range now.Keys {
			if _, had := was.Keys[key]; !had {
				look(key, false, Key{})
			}
		}
	} else if now.newest() <= was.Sequence {
		l.Counts = differing(was.Kinds, Sums(now.Keys))
	}
	for _, key := range slices.Sorted(maps.Keys(bad)) {
		look(key, false, Key{})
	}
	slices.SortFunc(l.Items, func(a, b Item) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return l.orNil()
}

func (s State) newest() (n uint64) {
	for _, k := range s.Keys {
		n = max(n, k.Revision)
	}
	for _, at := range s.Deleted {
		n = max(n, at)
	}
	return n
}

// differing are how many keys there were of the kinds that are not as they were.
func differing(was, now map[string]Sum) map[string]uint64 {
	out := map[string]uint64{}
	for kind, w := range was {
		if now[kind] != w {
			out[kind] = w.Count
		}
	}
	for kind := range now {
		if _, had := was[kind]; !had {
			out[kind] = 0
		}
	}
	return out
}

func (l *Loss) orNil() *Loss {
	if !l.All && l.Other == "" && len(l.Streams) == 0 && len(l.Items) == 0 && len(l.Counts) == 0 {
		return nil
	}
	return l
}

// Of are the lost keys of a kind.
func (l *Loss) Of(kind string) (out []Item) {
	for _, i := range l.Items {
		if i.Kind == kind {
			out = append(out, i)
		}
	}
	return out
}

// ByKind is how many keys of each kind were lost.
func (l *Loss) ByKind() map[string]int {
	out := map[string]int{}
	for _, i := range l.Items {
		out[i.Kind]++
	}
	return out
}

// maxNamed bounds the kinds that a sentence names.
const maxNamed = 8

// Error says what was lost in one sentence.
func (l *Loss) Error() string {
	var what []string
	switch {
	case l.All:
		what = append(what, "the whole store is gone, or nothing in it says whose it is")
	case l.Other != "":
		what = append(what, fmt.Sprintf("the store is %s, and this hub's is %s", l.Other, l.Store))
	}
	by := l.ByKind()
	kinds := slices.Sorted(maps.Keys(by))
	for i, kind := range kinds {
		if i == maxNamed {
			what = append(what, fmt.Sprintf("keys of %d other kinds", len(kinds)-i))
			break
		}
		what = append(what, fmt.Sprintf("%d of %s", by[kind], kind))
	}
	if len(by) == 0 {
		for _, kind := range slices.Sorted(maps.Keys(l.Counts)) {
			what = append(what, fmt.Sprintf("some of %s, of which there were %d", kind, l.Counts[kind]))
		}
	}
	for _, s := range l.Streams {
		what = append(what, fmt.Sprintf("stream %s has %d entries up to %d, and had %d up to %d", s.Stream, s.Is.Messages, s.Is.Sequence, s.Was.Messages, s.Was.Sequence))
	}
	return strings.Join(what, "; ")
}

// Hint is what to do about a loss.
const Hint = "put the newest copy of the hub's folder in its place; or go on with what is left: stop the hub, rackboot-hub restored, start it. rackboot-hub check lists what was lost"

// Err refuses something because of the loss. The code is unavailable.
func (l *Loss) Err(op string) *protocol.Error {
	return protocol.Errorf(protocol.CodeUnavailable, op, "the hub's store has lost what was acknowledged, and the hub only reads: %w", l).WithHint("%s", Hint)
}
