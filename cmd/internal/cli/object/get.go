package object

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/choice"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// getOptions are the flags of get.
type getOptions struct {
	choice.Choice
	files                           []string
	sortBy, labelColumns            string
	noHeaders, showLabels           bool
	watch, watchOnly, ignoreMissing bool
}

func getCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var o getOptions
	cmd := &cobra.Command{
		Use: "get KIND[,KIND] [NAME...] | KIND/NAME... | all", Short: "List resources, or show some", Args: cobra.ArbitraryArgs,
		Long: "List resources, or show some. all is racks, agents, segments, BMCs, servers, claims, holds,\n" +
			"maintenances and server groups. Labels of a rack count as those of what is in it.\n\n" +
			"A list of one kind is shown as it comes, page by page. Several kinds, --sort-by and templates need\n" +
			"all of it first. A list that breaks off shows what came, and has an exit code.\n\n" +
			"rackctl get requests shows what was asked of servers once; rackctl get events what happened;\n" +
			"rackctl get hubs which hubs share the store, and which one works.",
		Example: "  rackctl get servers\n  rackctl get server n1 -o yaml\n  rackctl get servers,claims -l row=7\n  rackctl get holds -w\n  rackctl get requests\n" +
			"  rackctl get servers --field-selector status.phase=Reserved -o name\n" +
			"  rackctl get servers -o custom-columns=NAME:.metadata.name,PHASE:.status.phase",
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args, hubs, src, pr) },
	}
	o.Flags(cmd)
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "those that are in this file, folder or - for standard input; may be repeated")
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "", "put them in the order of this field: .metadata.createdAt")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "leave out the names of the columns")
	cmd.Flags().BoolVar(&o.showLabels, "show-labels", false, "show all labels in a column")
	cmd.Flags().StringVarP(&o.labelColumns, "label-columns", "L", "", "show these labels, also those of the rack, in a column each")
	cmd.Flags().BoolVar(&o.ignoreMissing, "ignore-not-found", false, "what is not there is no error")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "go on, and show each one again when what is shown of it changes")
	cmd.Flags().BoolVar(&o.watchOnly, "watch-only", false, "show only what changes from now on")
	return cmd
}

func (o *getOptions) run(cmd *cobra.Command, args []string, hubs *client.Hubs, src *files.Input, pr *printer.Printer) error {
	o.watch = o.watch || o.watchOnly
	args, err := filed(args, o.files, src)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return protocol.Errorf(protocol.CodeInvalid, "", "say what: rackctl get KIND").WithHint("rackctl api-resources lists the kinds")
	}
	if other, is := noResources(args); is {
		if o.Selects() || o.watch {
			return protocol.Errorf(protocol.CodeInvalid, "", "%s have no labels, and are not watched", other.plural).WithHint("%s", other.instead)
		}
		return other.show(cmd.Context(), hubs, pr, args)
	}
	o.Missing = o.ignoreMissing
	if err := o.Read(args); err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	if o.watch {
		return newFollowing(o, c, pr).run(cmd.Context())
	}
	if o.paged(pr) {
		return o.pages(cmd.Context(), c, pr)
	}
	got, missing := o.Fetch(cmd.Context(), c, o.placed(pr))
	if missing != nil && got == nil {
		return missing
	}
	return errors.Join(o.show(pr, got), missing)
}

// placed says whether racks are shown.
func (o *getOptions) placed(pr *printer.Printer) bool {
	return o.labelColumns != "" || pr.Form == printer.FormWide || pr.Tabular() && slices.ContainsFunc(o.Wanted, func(w choice.Wanted) bool { return w.Kind == resource.KindServer })
}

// paged reports whether resources are shown page by page, as they come: one list of one kind, in the order
// of its names, in a form that need not see all of it.
func (o *getOptions) paged(pr *printer.Printer) bool {
	return len(o.Wanted) == 1 && len(o.Wanted[0].Names) == 0 && o.sortBy == "" && pr.Sequences()
}

// pages shows what is selected, page by page. Where a page does not come, those before it were shown, and JSON
// has no end.
func (o *getOptions) pages(ctx context.Context, c *api.Client, pr *printer.Printer) error {
	kind := o.Wanted[0].Kind
	seq, err := pr.Sequence()
	if err != nil {
		return err
	}
	shown := 0
	var lacks *api.IncompleteError
	var columns []printer.Column // of the page before
	for got, err := range o.Pages(ctx, c, kind, o.needed(pr)) {
		if err != nil {
			return err
		}
		if got.Lacks != nil {
			lacks = got.Lacks
		}
		v, err := o.view(got)
		if err != nil {
			return err
		}
		if columns != nil && len(v.Items) > 0 && !slices.Equal(columns, v.Columns) { // another hub answers, of another version
			if seq, err = pr.Sequence(); err != nil {
				return err
			}
		}
		if len(v.Items) > 0 {
			columns = v.Columns
		}
		if err := seq.Show(v); err != nil {
			return err
		}
		shown += len(v.Items)
	}
	if err := seq.Close(); err != nil {
		return err
	}
	if shown == 0 && pr.Tabular() && lacks == nil && !o.Missing {
		pr.Progress("no %s", kind.Plural())
	}
	return lost(pr, kind, lacks)
}

// needed is what the form shows of resources. A table of a hub has no labels.
func (o *getOptions) needed(pr *printer.Printer) (n choice.Needed) {
	n.Labelled = o.labelColumns != ""
	switch {
	case pr.Form == printer.FormName:
		n.Only = "metadata.name"
	case pr.Tabular():
		n.Table, n.Wide = o.labelColumns == "" && !o.showLabels, pr.Form == printer.FormWide
	}
	return n
}

// lost says what a list may lack, and returns it as an error; nil for nothing.
func lost(pr *printer.Printer, kind resource.Kind, lacks *api.IncompleteError) error {
	if lacks == nil {
		return nil
	}
	for _, l := range lacks.Incomplete.Lost {
		pr.Progress("lost: %s %s (%s) %s", kind, l.Name, l.How, l.Note)
	}
	return lacks
}

// show shows what was found, and says what may be missing.
func (o *getOptions) show(pr *printer.Printer, got []choice.Chosen) error {
	var views []printer.View
	var lacks error
	for _, g := range got {
		v, err := o.view(g)
		if err != nil {
			return err
		}
		switch {
		case len(v.Items) > 0:
			views = append(views, v)
		case pr.Tabular() && len(got) == 1 && g.Lacks == nil && !o.Missing:
			pr.Progress("no %s", g.Kind.Plural())
		}
	}
	switch {
	case len(views) > 0 || !pr.Tabular():
		if len(got) > 1 {
			nameKinds(views)
		}
		if err := pr.ShowAll(o.Single() && len(views) == 1, views...); err != nil {
			return err
		}
	case len(got) > 1:
		pr.Progress("nothing there")
	}
	for _, g := range got {
		lacks = errors.Join(lacks, lost(pr, g.Kind, g.Lacks))
	}
	return lacks
}

// view is the table of one kind, with the columns that were asked for.
func (o *getOptions) view(g choice.Chosen) (printer.View, error) {
	if len(g.Rows) > 0 {
		v := kinds.Drawn(g.Kind, g.Columns, g.Rows, time.Now())
		v.NoHeader = o.noHeaders
		return v, nil
	}
	objs, err := sorted(g.Objs, o.sortBy)
	if err != nil {
		return printer.View{}, err
	}
	v := kinds.TableAt(g.Kind, objs, time.Now(), g.Racks.Of)
	v.NoHeader = o.noHeaders
	add := func(name string, text func(resource.Object) string) {
		v.Columns = append(v.Columns, printer.Column{Name: name})
		for i, obj := range objs {
			it := &v.Items[i]
			it.Cells, it.Tones, it.Keys = append(it.Cells, text(obj)), append(it.Tones, printer.Plain), append(it.Keys, text(obj))
		}
	}
	for key := range strings.SplitSeq(o.labelColumns, ",") {
		if key = strings.TrimSpace(key); key != "" {
			add(strings.ToUpper(key), func(obj resource.Object) string { return g.Racks.Labels(obj)[key] })
		}
	}
	if o.showLabels {
		add("LABELS", func(obj resource.Object) string { return kinds.Labels(obj.Head().Metadata.Labels) })
	}
	return v, nil
}

// nameKinds has the kinds before the names, where there are several.
func nameKinds(views []printer.View) {
	for _, v := range views {
		for i := range v.Items {
			v.Items[i].Cells[0] = v.Items[i].Name
		}
	}
}
