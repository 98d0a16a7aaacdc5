package top

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol/api"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

// followed are the kinds that screens are made of.
func followed() []resource.Kind {
	return []resource.Kind{resource.KindRack, resource.KindAgent, resource.KindServer, resource.KindHold, resource.KindFreeze}
}

// fields are those of a kind that rows are made of, as a watch is asked for them; empty is all. Of the server that is open
// everything is read, see [looker].
func fields(kind resource.Kind) string {
	switch kind {
	case resource.KindRack:
		return "metadata.uid,status.agent,status.standby,status.takenOver"
	case resource.KindAgent:
		return "metadata.uid,status.lastReport,status.conditions.code,status.conditions.since"
	case resource.KindServer:
		const report = "status.report."
		return strings.Join([]string{
			"metadata.uid", "status.phase", "status.claim", "status.stale", "status.readAt", "status.conditions.code", "status.conditions.since",
			report + "observation.power", report + "attempt.state", report + "attempt.number", report + "attempt.code", report + "awaits",
			report + "holds.id", report + "holds.word", report + "holds.state",
		}, ",")
	case resource.KindHold:
		return "metadata.uid,spec.server,status.word,status.state"
	default:
		return ""
	}
}

// told is a resource as a watch told of it last, and its rack.
type told struct {
	obj  resource.Object
	rack string
}

// watches have what a hub has told. They are safe for concurrent use; resources in them are not changed.
type watches struct {
	group sync.WaitGroup
	news  chan struct{} // has a value when something was told

	mu      sync.Mutex
	there   map[resource.Kind]map[string]told
	whole   map[resource.Kind]bool   // all of it was told
	broken  map[resource.Kind]error  // why nothing is told now
	ended   map[resource.Kind]bool   // and nothing will be
	lacks   map[resource.Kind]string // why something may be missing
	changed bool
}

func newWatches() *watches {
	w := &watches{
		news: make(chan struct{}, 1), there: map[resource.Kind]map[string]told{}, whole: map[resource.Kind]bool{},
		broken: map[resource.Kind]error{}, ended: map[resource.Kind]bool{}, lacks: map[resource.Kind]string{},
	}
	for _, kind := range followed() {
		w.there[kind] = map[string]told{}
	}
	return w
}

// follow takes what one watch tells, until it ends.
func (w *watches) follow(kind resource.Kind, changes iter.Seq2[api.Change, error]) {
	for c, err := range changes {
		w.take(kind, c, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended[kind] = true
}

func (w *watches) take(kind resource.Kind, c api.Change, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.broken[kind] = err
	case c.Type == api.ChangeBroken:
		w.broken[kind] = c.Err
	case c.Type == api.ChangePut:
		w.there[kind][c.Name] = told{c.Object, c.Rack}
		w.changed = true
	case c.Type == api.ChangeGone:
		delete(w.there[kind], c.Name)
		w.changed = true
	case c.Type == api.ChangeSynced:
		w.changed = w.changed || !w.whole[kind] || w.broken[kind] != nil
		w.whole[kind] = true
		delete(w.broken, kind)
		delete(w.lacks, kind)
		if c.Lacks != nil {
			w.lacks[kind] = c.Lacks.Err("watch " + kind.Plural()).Error()
		}
	}
	if w.whole[kind] || w.broken[kind] != nil {
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// synced reports whether everything was told.
func (w *watches) synced() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.whole) == len(followed())
}

// over reports whether one of them has ended for good: it was refused.
func (w *watches) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ended) > 0
}

// look reports whether there is something else to show than at the last look; again has it be so in any case. The error is
// of a watch that tells nothing now.
func (w *watches) look(again bool) (changed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, kind := range followed() {
		if err := w.broken[kind]; err != nil {
			return false, err
		}
	}
	if len(w.whole) < len(followed()) {
		return false, nil
	}
	changed = w.changed || again
	w.changed = false
	return changed, nil
}

// heard takes when agents were heard.
func (w *watches) heard(agents []resource.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.there[resource.KindAgent]
	for _, o := range agents {
		now, is := o.(*resource.Agent)
		if !is {
			continue
		}
		name := now.Metadata.Name
		was, there := of[name].obj.(*resource.Agent)
		if !there || now.Status.LastReport == nil || was.Status.LastReport != nil && was.Status.LastReport.Equal(*now.Status.LastReport) {
			continue
		}
		next := *was // screens have the one of before
		next.Status.LastReport = now.Status.LastReport
		of[name] = told{&next, of[name].rack}
		w.changed = true
	}
}

// inOrder are the resources of a type, in the order that people count in; nil keeps all. It needs w.mu.
func inOrder[T resource.Object](w *watches, keep func(o resource.Object, rack string) bool) []T {
	of := w.there[resource.KindOf[T]()]
	out := make([]T, 0, len(of))
	for _, name := range slices.SortedFunc(maps.Keys(of), natural.Compare) {
		t := of[name]
		if keep == nil || keep(t.obj, t.rack) {
			out = append(out, t.obj.(T))
		}
	}
	return out
}

// ignoreIncomplete is an error that is more than that a list may lack something.
func ignoreIncomplete(err error) error {
	if _, is := errors.AsType[*api.IncompleteError](err); is {
		return nil
	}
	return err
}
