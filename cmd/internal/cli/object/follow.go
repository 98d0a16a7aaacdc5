package object

import (
	"context"
	"errors"
	"time"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/where"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// following shows everything once, and then what has changed.
type following struct {
	*getOptions
	hub     *api.Client
	printer *printer.Printer

	shown  map[string]string // what was shown of each name; see changed
	first  choice.Chosen     // what is there, until all of it is
	synced bool
	header bool
	lacked bool
	broken bool // the hub is not reached, and that was said
	// racks have the labels of racks as of asked, where they are shown.
	racks where.Racks
	asked time.Time
}

func newFollowing(o *getOptions, c *api.Client, pr *printer.Printer) *following {
	return &following{getOptions: o, hub: c, printer: pr, shown: map[string]string{}, header: !o.noHeaders}
}

// run goes on until ctx ends, also while the hub is away: but for the first time.
func (f *following) run(ctx context.Context) error {
	if len(f.Wanted) != 1 {
		return protocol.Errorf(protocol.CodeInvalid, "", "one kind can be watched at a time").WithHint("give one kind")
	}
	f.first.Kind = f.Wanted[0].Kind
	only := ""
	if f.printer.Form == printer.FormName && f.sortBy == "" {
		only = "metadata.name,metadata.uid" // by its uid one that was made anew is another
	}
	for c, err := range f.Watch(ctx, f.hub, f.Wanted[0], only) {
		if err == nil {
			err = f.take(ctx, c)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *following) take(ctx context.Context, c api.Change) error {
	name := c.Name
	switch c.Type {
	case api.ChangeBroken:
		if !f.synced && !f.broken && len(f.shown) == 0 {
			return c.Err
		}
		if !f.broken {
			f.printer.Progress("%s", c.Err)
		}
		f.broken = true
	case api.ChangeSynced:
		f.broken = false
		return f.all(ctx, c.Lacks)
	case api.ChangePut:
		if f.synced {
			return f.show(ctx, choice.Chosen{Kind: f.first.Kind}, c)
		}
		f.first.Objs = append(f.first.Objs, c.Object)
		f.first.Racks.Add(pageOf(c))
	case api.ChangeGone:
		delete(f.shown, name)
		if f.synced {
			f.printer.Progress("%s is gone, or is not what was asked for any more", choice.Named(f.first.Kind, name))
		}
	}
	return nil
}

// all shows what there is, once all of it was told, and says what it may lack.
func (f *following) all(ctx context.Context, lacks *api.Incomplete) error {
	if lacks != nil && !f.lacked {
		f.printer.Progress("%s", lacks.Err("watch "+f.first.Kind.Plural()))
	}
	f.lacked = lacks != nil
	if f.synced {
		return nil
	}
	f.synced = true
	got := f.first
	f.first = choice.Chosen{Kind: got.Kind}
	if err := f.labelled(ctx, &got); err != nil {
		return err
	}
	if err := f.print(got, !f.watchOnly); err != nil {
		return err
	}
	if f.Missing {
		return nil
	}
	var missing []error
	for _, n := range f.Wanted[0].Names {
		if _, there := f.shown[n]; !there {
			_, err := f.hub.Objects.Get(ctx, got.Kind, n)
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// show shows one that has changed.
func (f *following) show(ctx context.Context, got choice.Chosen, c api.Change) error {
	got.Objs = append(got.Objs, c.Object)
	got.Racks.Add(pageOf(c))
	if err := f.labelled(ctx, &got); err != nil {
		return err
	}
	return f.print(got, true)
}

// print shows those that say something else than before. They count as shown in any case.
func (f *following) print(got choice.Chosen, show bool) error {
	v, err := f.view(got)
	if err != nil {
		return err
	}
	if v.Items, err = changed(f.shown, v, f.printer); err != nil {
		return err
	}
	if len(v.Items) == 0 || !show {
		return nil
	}
	v.NoHeader = !f.header
	f.header = false
	return f.printer.Show(v)
}

// labelled gives what is to be shown the labels of its racks, where they are shown too: as they were not long ago.
func (f *following) labelled(ctx context.Context, got *choice.Chosen) error {
	if f.labelColumns == "" {
		return nil
	}
	if time.Since(f.asked) > client.Every {
		racks, err := where.Labelled(ctx, f.hub)
		if err != nil && f.asked.IsZero() {
			return err
		}
		if err == nil { // else as they were: the hub may be away
			f.racks, f.asked = racks, time.Now()
		}
	}
	got.Racks = f.racks.With(got.Racks)
	return nil
}

// pageOf is a change as a page, which knows its rack.
func pageOf(c api.Change) api.Page {
	return api.Page{Objects: []resource.Object{c.Object}, Racks: []string{c.Rack}}
}
