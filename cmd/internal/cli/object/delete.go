package object

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/bulk"
	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// deletion is the flags of delete.
type deletion struct {
	choice.Choice
	bulk         bulk.Bulk
	files        []string
	all          bool
	wait         bool
	timeout      time.Duration
	releaseHolds string
	release      bool
	revision     uint64
	force        bool
	dryRun       dryRun
}

func deleteCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var d deletion
	cmd := &cobra.Command{
		Use: "delete KIND NAME... | KIND/NAME... | KIND -l SELECTOR | -f FILE", Short: "Delete resources; a claim goes when its server was proved off",
		Long: "Delete resources; a claim goes when its server was proved off.\n\n" +
			"A claim whose server is held is not deleted: let the holds' owners release them, or release\n" +
			"them all with --release-holds, which takes the right to break glass where others own them.\n\n" +
			"An entry of a catalogue that is the current image of groups is not deleted, unless with --force:\n" +
			"their revisions keep what they boot, and a group that is not pinned follows what is left.\n\n" +
			"What a selector or --all means is asked about first, and is at most --limit. Of a file, what refers\n" +
			"to others goes before them. A failure ends it: what was not tried is said.",
		RunE: func(cmd *cobra.Command, args []string) error {
			d.release = cmd.Flags().Changed("release-holds")
			return d.run(cmd, args, hubs, src, pr)
		},
	}
	d.Flags(cmd)
	d.bulk.Flags(cmd)
	cmd.Flags().StringArrayVarP(&d.files, "filename", "f", nil, "those that are in this file, folder or - for standard input; may be repeated")
	cmd.Flags().BoolVar(&d.all, "all", false, "all of the kind")
	cmd.Flags().BoolVar(&d.Missing, "ignore-not-found", false, "what is not there is no error")
	cmd.Flags().StringVar(&d.releaseHolds, "release-holds", "", "why all holds on the claim's server are released with it")
	cmd.Flags().BoolVar(&d.force, "force", false, "delete a boot image although it is the current image of groups")
	cmd.Flags().Uint64Var(&d.revision, "revision", 0, "delete it only if its metadata.revision is still this")
	addDryRun(cmd.Flags(), &d.dryRun, "say what would be deleted, and delete nothing; the hub does not check it")
	cmd.Flags().BoolVar(&d.wait, "wait", false, "wait until it is gone")
	cmd.Flags().DurationVar(&d.timeout, "timeout", 30*time.Minute, "how long to wait")
	return cmd
}

func (d *deletion) run(cmd *cobra.Command, args []string, hubs *client.Hubs, src *files.Input, pr *printer.Printer) error {
	args, err := filed(args, d.files, src)
	if err != nil {
		return err
	}
	if err := d.check(args); err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	names, err := d.names(cmd.Context(), c, src, pr)
	if err != nil {
		return err
	}
	var objs []resource.Object
	var lines, done []string
	err = d.bulk.Each(pr, names, func(full string) error {
		kind, name, err := choice.OneTarget([]string{full})
		if err != nil {
			return err
		}
		obj, word, err := d.one(cmd.Context(), c, kind, name)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound && d.Missing:
			return nil
		case err != nil:
			return err
		}
		objs, done, lines = append(objs, obj), append(done, full), append(lines, full+" "+word)
		return nil
	})
	if len(done) == 0 {
		return err
	}
	if waited := d.await(cmd.Context(), pr, c, done); waited != nil {
		return cmp.Or(err, waited)
	}
	if d.wait {
		for i := range lines {
			lines[i] = strings.Replace(lines[i], releasingWord, deletedWord, 1)
		}
	}
	var value any = objs
	if len(objs) == 1 {
		value = objs[0]
	}
	return cmp.Or(err, pr.Text(value, done, strings.Join(lines, "\n")))
}

// What became of what was deleted.
const (
	deletedWord   = "deleted"
	releasingWord = "is being released" // a claim, until its server was proved off
)

// check refuses what does not go together.
func (d *deletion) check(args []string) error {
	if len(args) == 0 {
		return protocol.Errorf(protocol.CodeInvalid, "", "say what to delete: rackctl delete KIND NAME")
	}
	if err := d.Read(args); err != nil {
		return err
	}
	if d.release && strings.TrimSpace(d.releaseHolds) == "" {
		return protocol.Errorf(protocol.CodeInvalid, "", "--release-holds takes the reason")
	}
	for _, w := range d.Wanted {
		switch {
		case len(w.Names) == 0 && !d.all && !d.Selects():
			return protocol.Errorf(protocol.CodeInvalid, "", "give one name too: %s NAME", args[0]).WithHint("or a selector with -l, or --all")
		case len(w.Names) > 0 && d.all:
			return protocol.Errorf(protocol.CodeInvalid, "", "a name and --all were given").WithHint("give either")
		case d.force && w.Kind != resource.KindBootImage:
			return protocol.Errorf(protocol.CodeInvalid, "", "--force is for boot images")
		case d.release && w.Kind != resource.KindClaim:
			return protocol.Errorf(protocol.CodeInvalid, "", "--release-holds is for claims")
		}
	}
	if d.revision != 0 && !d.Single() {
		return protocol.Errorf(protocol.CodeInvalid, "", "--revision is for one resource")
	}
	return nil
}

// names are those that are deleted, as KIND/NAME: claims before servers and servers before racks, against
// the order in which they were applied.
func (d *deletion) names(ctx context.Context, c *api.Client, src *files.Input, pr *printer.Printer) (names []string, err error) {
	slices.SortStableFunc(d.Wanted, func(a, b choice.Wanted) int {
		return slices.Index(resource.Kinds(), b.Kind) - slices.Index(resource.Kinds(), a.Kind)
	})
	if !d.all && !d.Selects() {
		for _, w := range d.Wanted {
			for _, n := range w.Names {
				names = append(names, choice.Named(w.Kind, n))
			}
		}
		return names, nil
	}
	got, err := d.Fetch(ctx, c, false)
	if err != nil {
		return nil, err
	}
	for _, g := range got {
		if g.Lacks != nil {
			return nil, g.Lacks
		}
		for _, o := range g.Objs {
			names = append(names, choice.Named(g.Kind, o.Head().Metadata.Name))
		}
	}
	if d.dryRun {
		return names, nil
	}
	return names, d.bulk.Agree(src, pr, "delete", names)
}

// one deletes one, and says what became of it.
func (d *deletion) one(ctx context.Context, c *api.Client, kind resource.Kind, name string) (obj resource.Object, word string, err error) {
	if d.revision != 0 {
		ctx = api.WithRevision(ctx, d.revision)
	}
	switch {
	case bool(d.dryRun):
		obj, err = c.Objects.Get(ctx, kind, name)
		return obj, deletedWord + " (dry run)", err
	case kind == resource.KindBootImage:
		obj, err = c.Objects.DeleteBootImage(ctx, name, d.force)
	case d.release:
		obj, err = c.Objects.DeleteClaim(ctx, name, d.releaseHolds)
	default:
		obj, err = c.Objects.Delete(ctx, kind, name)
	}
	word = deletedWord
	if kind == resource.KindClaim {
		word = releasingWord
	}
	return obj, word, err
}

// await waits until claims are gone, where that was asked for. All else is gone when it is deleted.
func (d *deletion) await(ctx context.Context, pr *printer.Printer, c *api.Client, done []string) error {
	if !d.wait || bool(d.dryRun) {
		return nil
	}
	for _, full := range done {
		kind, name, err := choice.OneTarget([]string{full})
		if err != nil {
			return err
		}
		if kind != resource.KindClaim {
			continue
		}
		if err := waitGone(ctx, pr, c, kind, name, d.timeout); err != nil {
			return err
		}
	}
	return nil
}

func waitGone(ctx context.Context, pr *printer.Printer, c *api.Client, kind resource.Kind, name string, timeout time.Duration) error {
	full := choice.Named(kind, name)
	return client.Poll(ctx, timeout, full, pr.Telling(full), func(ctx context.Context) (string, bool, error) {
		obj, err := c.Objects.Get(ctx, kind, name)
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return "gone", true, nil
		}
		if claim, ok := obj.(*resource.Claim); ok && err == nil {
			return strings.TrimSpace(fmt.Sprintf("releasing server %s %s", printer.Dash(claim.Status.Server),
				resource.ConditionCodes(claim.Status.Conditions, time.Now()))), false, nil
		}
		return "there", false, err
	})
}
