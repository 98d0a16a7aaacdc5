package api

import (
	"encoding/json"
	"maps"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ChangeType is what a [Change] says.
type ChangeType string

// What changes say.
const (
	ChangePut    ChangeType = "put"    // a resource is there, or is another than before
	ChangeGone   ChangeType = "gone"   // a resource is not there, or not selected, any more
	ChangeSynced ChangeType = "synced" // everything was told that is there
	ChangeBroken ChangeType = "broken" // the hub is not reached; it is tried again
)

// Change is what a watch tells.
type Change struct {
	Type   ChangeType
	Name   string
	Object resource.Object // of put
	Rack   string          // of put; empty where it is in none, or in one that the caller may not see
	// Lacks says with synced that there may be more; nil is nothing.
	Lacks *Incomplete
	Err   error // of broken
}

// follower makes changes of the lines of a watch, over its connections: what it was told already is no change.
type follower struct {
	kind     resource.Kind
	position string
	known    map[string]had
	// again has what was told since everything is told again; nil while it is not.
	again map[string]bool
}

// had is what was told last of a resource.
type had struct{ uid, digest string }

func newFollower(kind resource.Kind) *follower {
	return &follower{kind: kind, known: map[string]had{}}
}

// begin begins with another connection. What the last one had not told to its end counts for nothing.
func (f *follower) begin() { f.again = nil }

// take takes a line. Its error ends the connection.
func (f *follower) take(e WatchEvent) ([]Change, error) {
	switch e.Type {
	case WatchPut:
		return f.put(e)
	case WatchGone:
		delete(f.again, e.Name)
		return f.gone(e.Name), nil
	case WatchAgain:
		f.again = map[string]bool{}
	case WatchSynced:
		var out []Change
		if f.again != nil {
			for _, name := range slices.Sorted(maps.Keys(f.known)) {
				if !f.again[name] {
					out = append(out, f.gone(name)...)
				}
			}
		}
		f.again = nil
		f.at(e)
		return append(out, Change{Type: ChangeSynced, Lacks: e.Incomplete}), nil
	case WatchBookmark:
		if f.again == nil {
			f.at(e)
		}
	case WatchEnd:
		if e.Problem != nil {
			return nil, e.Problem.Err()
		}
		return nil, protocol.Errorf(protocol.CodeUnavailable, "watch", "the hub has ended the watch")
	}
	return nil, nil
}

func (f *follower) at(e WatchEvent) {
	if e.Position != "" {
		f.position = e.Position
	}
}

// put takes a resource. One that was made anew under a name is gone before.
func (f *follower) put(e WatchEvent) (out []Change, err error) {
	if f.again != nil {
		f.again[e.Name] = true
	}
	was, known := f.known[e.Name]
	if known && e.Digest != "" && was.digest == e.Digest {
		return nil, nil
	}
	obj := resource.NewObject(f.kind)
	if err := json.Unmarshal(e.Object, obj); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "watch", "%s %s cannot be read: %w", f.kind, e.Name, err).
			WithHint("hub and rackctl may be of different versions; compare them with rackctl version")
	}
	m := obj.Head().Metadata
	if m.Name != e.Name || m.Name == "" {
		return nil, protocol.Errorf(protocol.CodeInternal, "watch", "%s %q has the name %q", f.kind, e.Name, m.Name)
	}
	if known && was.uid != m.UID {
		out = append(out, f.gone(e.Name)...)
	}
	f.known[e.Name] = had{m.UID, e.Digest}
	return append(out, Change{Type: ChangePut, Name: e.Name, Object: obj, Rack: e.Rack}), nil
}

func (f *follower) gone(name string) []Change {
	if _, known := f.known[name]; !known {
		return nil
	}
	delete(f.known, name)
	return []Change{{Type: ChangeGone, Name: name}}
}
