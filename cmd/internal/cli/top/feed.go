package top

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/where"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

const (
	// beat is the pause between two looks at the hub's events.
	beat = time.Second
	// share says how much of its time a hub is asked to read everything for one screen at most: one part in so many.
	// longestPause bounds the pause that comes of that; agents report each 15 s at least.
	share        = 5
	longestPause = 15 * time.Second
	// callDeadline bounds each question.
	callDeadline = 10 * time.Second
	// maxNamed is how many servers are read by their names after one look at the events; of more all are read.
	maxNamed = 32
	// eventPage is how many events are read at once.
	eventPage = 1000
)

// feed asks one hub. It reads everything as often as share allows, and between that the servers that the hub's
// events name. It is used by one goroutine.
type feed struct {
	link   *client.Link
	chosen *choice.Choice // which servers
	rack   string         // only this one's; empty for all
	clock  func() time.Time

	shot    snapshot
	servers map[string]*resource.Server
	after   uint64    // the last event that was seen
	due     time.Time // when everything is read again
}

// next asks the hub once. changed says that there is something else to show. After an error everything is
// read again.
func (f *feed) next(ctx context.Context) (s snapshot, changed bool, err error) {
	c, err := f.link.Client()
	if err == nil {
		if f.clock().Before(f.due) {
			changed, err = f.news(ctx, c)
		} else {
			changed, err = true, f.everything(ctx, c)
		}
	}
	if err != nil {
		f.due = time.Time{}
		return snapshot{}, false, err
	}
	f.shot.at = f.clock()
	return f.shot, changed, nil
}

// run asks the hub until ctx ends, and shows what it hears.
func (f *feed) run(ctx context.Context, show func(any)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
		s, changed, err := f.next(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			show(trouble{since: f.clock(), code: protocol.CodeOf(err), why: err.Error()})
		case changed:
			show(s)
		default:
			show(heard{s.at})
		}
	}
}

// heard says that the hub has answered, and that nothing is new.
type heard struct{ at time.Time }

// everything reads the fleet.
func (f *feed) everything(ctx context.Context, c *api.Client) error {
	began := f.clock()
	s := snapshot{hub: f.link.Host()}
	after, err := newest(ctx, c, began)
	if err != nil {
		return err
	}
	me, err := asked(ctx, c.Whoami)
	if err != nil {
		return err
	}
	s.version, s.caller = me.Hub, me.Name
	var segments []*resource.Segment
	var all []*resource.Server
	if err := errors.Join(
		list(ctx, c, &s.racks, &s), list(ctx, c, &segments, &s), list(ctx, c, &s.agents, &s), list(ctx, c, &all, &s),
		list(ctx, c, &s.holds, &s), list(ctx, c, &s.freezes, &s),
	); err != nil {
		return err
	}
	s.places = where.Known(s.racks, segments)
	if f.rack != "" && !slices.ContainsFunc(s.racks, func(r *resource.Rack) bool { return r.Metadata.Name == f.rack }) {
		return protocol.Errorf(protocol.CodeNotFound, "top", "there is no rack %q", f.rack).WithHint("rackctl get racks lists them")
	}
	f.shot, f.servers = s, map[string]*resource.Server{}
	if err := f.keep(all); err != nil {
		return err
	}
	f.narrow()
	f.arrange()
	f.after, f.due = after, f.clock().Add(pauseAfter(f.clock().Sub(began)))
	return nil
}

// pauseAfter is how long nobody reads everything after somebody has, by how long that took.
func pauseAfter(took time.Duration) time.Duration {
	return min(max((share-1)*took, beat), longestPause)
}

// newest is the index of the last event of now: that of a question to which no event is an answer.
func newest(ctx context.Context, c *api.Client, now time.Time) (uint64, error) {
	const century = 100 * 365 * 24 * time.Hour
	got, err := asked(ctx, func(ctx context.Context) (api.EventList, error) {
		return c.EventsOf(ctx, api.EventQuery{Limit: eventPage, Since: now.Add(century)})
	})
	return got.Next, err
}

// news reads what events name: servers, or all if there are too many or the event is of something else.
func (f *feed) news(ctx context.Context, c *api.Client) (changed bool, err error) {
	got, err := asked(ctx, func(ctx context.Context) (api.EventList, error) { return c.Events(ctx, f.after, eventPage) })
	if err != nil || len(got.Items) == 0 {
		f.after = max(f.after, got.Next)
		return false, err
	}
	names := map[string]bool{}
	for _, e := range got.Items {
		names[e.Server] = true
	}
	if len(names) > maxNamed || names[""] {
		return true, f.everything(ctx, c)
	}
	f.after = got.Next
	var read []*resource.Server
	for _, name := range slices.Sorted(maps.Keys(names)) {
		o, err := asked(ctx, func(ctx context.Context) (*resource.Server, error) { return api.Get[*resource.Server](ctx, c, name) })
		delete(f.servers, name)
		switch {
		case err == nil:
			read = append(read, o)
		case protocol.CodeOf(err) != protocol.CodeNotFound:
			return false, err
		}
	}
	if err := f.keep(read); err != nil {
		return false, err
	}
	f.arrange()
	return true, list(ctx, c, &f.shot.holds, &f.shot) // of which events tell too
}

// keep takes those servers that are selected.
func (f *feed) keep(all []*resource.Server) error {
	objs := make([]resource.Object, len(all))
	for i, o := range all {
		objs[i] = o
	}
	objs, err := f.chosen.Among(resource.KindServer, objs, f.shot.places)
	for _, o := range objs {
		if f.rack == "" || f.shot.places.Of(o) == f.rack {
			f.servers[o.Head().Metadata.Name] = o.(*resource.Server)
		}
	}
	return err
}

// narrow leaves out racks without a server that is selected, where some are.
func (f *feed) narrow() {
	if f.rack == "" && !f.chosen.Selects() {
		return
	}
	with := map[string]bool{f.rack: true}
	for _, o := range f.servers {
		with[f.shot.places.Of(o)] = true
	}
	f.shot.racks = slices.DeleteFunc(f.shot.racks, func(r *resource.Rack) bool { return !with[r.Metadata.Name] })
}

// arrange has the servers in the order that people count in.
func (f *feed) arrange() {
	f.shot.servers = slices.SortedFunc(maps.Values(f.servers), func(a, b *resource.Server) int {
		return natural.Compare(a.Metadata.Name, b.Metadata.Name)
	})
}

// list reads all resources of a type. That something may be missing is no error; the snapshot says so.
func list[T resource.Object](ctx context.Context, c *api.Client, into *[]T, s *snapshot) error {
	got, err := asked(ctx, func(ctx context.Context) ([]T, error) { return api.GetAll[T](ctx, c) })
	if incomplete, ok := errors.AsType[*api.IncompleteError](err); ok {
		s.lacks, err = incomplete.Error(), nil
	}
	*into = got
	return err
}

// asked is one question with its deadline.
func asked[T any](ctx context.Context, question func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callDeadline)
	defer cancel()
	return question(ctx)
}
