package top

import (
	"cmp"
	"context"
	"slices"
	"time"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// beat is the pause between two screens of what has changed, and between two questions whether the hub is there.
	beat = time.Second
	// contactEvery is how often it is asked when agents were heard, which is no change that a watch tells of.
	contactEvery = 10 * time.Second
	// callDeadline bounds each question.
	callDeadline = 10 * time.Second
)

// feed follows one hub by watches. It is used by one goroutine.
type feed struct {
	link   *client.Link
	chosen *choice.Choice // which servers
	rack   string         // only this one's; empty for all
	clock  func() time.Time

	client    *api.Client // of the watches
	watches   *watches    // nil before the first
	stop      func()      // ends them, and waits for that
	me        api.Whoami
	contacted time.Time // when it was asked when agents were heard
	lost      bool      // the last look was one at trouble
}

// close ends what the feed has begun.
func (f *feed) close() {
	if f.stop != nil {
		f.stop()
	}
	f.stop, f.watches = nil, nil
}

// first is everything, once all of it was told.
func (f *feed) first(ctx context.Context) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, callDeadline)
	defer cancel()
	for {
		s, changed, err := f.next(ctx)
		if err != nil || changed {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, protocol.Errorf(protocol.CodeTimeout, "top", "the hub has not told everything within %s", callDeadline).WithHint("see the hub's log, and rackctl status")
		case <-f.watches.news:
		}
	}
}

// next is what the hub has told. changed says that there is something else to show; it is false while not everything
// was told.
func (f *feed) next(ctx context.Context) (s snapshot, changed bool, err error) {
	defer func() { f.lost = err != nil }()
	c, err := f.link.Client()
	if err != nil {
		return s, false, err
	}
	if f.me, err = asked(ctx, c.Whoami); err != nil {
		return s, false, err
	}
	if f.watches == nil || f.client != c || f.watches.over() {
		f.begin(ctx, c)
	}
	if f.watches.synced() && f.clock().Sub(f.contacted) >= contactEvery {
		if err := f.contacts(ctx); err != nil {
			return s, false, err
		}
	}
	changed, err = f.watches.look(f.lost)
	if err != nil {
		return s, false, err
	}
	s = snapshot{hub: f.link.Host(), version: f.me.Hub, caller: f.me.Name, at: f.clock()}
	if changed {
		err = f.fill(&s)
	}
	return s, changed, err
}

// begin follows the hub anew.
func (f *feed) begin(ctx context.Context, c *api.Client) {
	f.close()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := newWatches()
	f.client, f.watches = c, w
	for _, kind := range followed() {
		ch := &choice.Choice{}
		if kind == resource.KindServer {
			ch = f.chosen
		}
		w.group.Go(func() { w.follow(kind, ch.Watch(ctx, c, choice.Wanted{Kind: kind}, fields(kind))) })
	}
	f.stop = func() {
		cancel()
		w.group.Wait()
	}
	f.contacted = f.clock()
}

// contacts reads when agents were heard.
func (f *feed) contacts(ctx context.Context) error {
	f.contacted = f.clock()
	ctx, cancel := context.WithTimeout(ctx, callDeadline)
	defer cancel()
	for p, err := range f.client.Objects.Pages(ctx, resource.KindAgent, api.Query{Only: "status.lastReport"}) {
		if err != nil {
			return ignoreIncomplete(err) // the watch says what is missing
		}
		f.watches.heard(p.Objects)
	}
	return nil
}

// run shows what the hub tells until ctx ends.
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
			s.live = true
			show(s)
		default:
			show(heard{s.at})
		}
	}
}

// heard says that the hub has answered, and that nothing is new.
type heard struct{ at time.Time }

// fill has in a snapshot what was told.
func (f *feed) fill(s *snapshot) error {
	w := f.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	s.racks, s.agents = inOrder[*resource.Rack](w, nil), inOrder[*resource.Agent](w, nil)
	s.holds, s.freezes = inOrder[*resource.Hold](w, nil), inOrder[*resource.Freeze](w, nil)
	if f.rack != "" && !slices.ContainsFunc(s.racks, func(r *resource.Rack) bool { return r.Metadata.Name == f.rack }) {
		return protocol.Errorf(protocol.CodeNotFound, "top", "there is no rack %q", f.rack).WithHint("rackctl get racks lists them")
	}
	var page api.Page
	s.servers = inOrder[*resource.Server](w, func(o resource.Object, rack string) bool {
		if f.rack != "" && rack != f.rack {
			return false
		}
		page.Objects, page.Racks = append(page.Objects, o), append(page.Racks, rack)
		return true
	})
	s.places.Add(page)
	for _, l := range w.lacks {
		s.lacks = cmp.Or(s.lacks, l)
	}
	f.narrow(s, page.Racks)
	return nil
}

// narrow leaves out racks without a server that is selected, where some are.
func (f *feed) narrow(s *snapshot, racks []string) {
	if f.rack == "" && !f.chosen.Selects() {
		return
	}
	with := map[string]bool{f.rack: true}
	for _, name := range racks {
		with[name] = true
	}
	s.racks = slices.DeleteFunc(s.racks, func(r *resource.Rack) bool { return !with[r.Metadata.Name] })
}

// asked is one question with its deadline.
func asked[T any](ctx context.Context, question func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callDeadline)
	defer cancel()
	return question(ctx)
}
