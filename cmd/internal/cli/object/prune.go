package object

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// AnnotationSet names the set that a resource was applied with: apply --prune takes away what has the
// name of its set and is in its files no more. It means nothing to the hub.
const AnnotationSet = "rackboot/applyset"

// fate is what pruning does with a resource.
type fate string

// The fates.
const (
	fateStays   fate = ""        // it is of no set, of another one, or in the files
	fatePruned  fate = "pruned"  // deleted
	fateRunning fate = "running" // a claim that has a server: only who says --yes means that
)

// fateOf is what pruning does with a resource. The first row that fits decides.
//
//	same set | in the files | going | claim with a server | --yes | fate
//	no       | *            | *     | *                   | *     | stays
//	yes      | yes          | *     | *                   | *     | stays
//	yes      | no           | yes   | *                   | *     | stays
//	yes      | no           | no    | no                  | *     | pruned
//	yes      | no           | no    | yes                 | yes   | pruned
//	yes      | no           | no    | yes                 | no    | running
//
// Holds are in no files and in no set: nothing that is missing in a file releases one.
func fateOf(ofSet, inFiles, going, running, yes bool) fate {
	switch {
	case !ofSet, inFiles, going:
		return fateStays
	case running && !yes:
		return fateRunning
	}
	return fatePruned
}

// pruning is the flags of apply --prune.
type pruning struct {
	prune, yes bool
	set        string
}

// check refuses a prune that does not say of what.
func (p *pruning) check() error {
	if p.prune != (p.set != "") {
		return protocol.Errorf(protocol.CodeInvalid, "", "--prune and --applyset go together").
			WithHint("name the set that these files are: apply -f site/ --prune --applyset site; what was applied with that name, and is in the files no more, is deleted")
	}
	if p.set != "" && !protocol.ValidName(p.set) {
		return protocol.Errorf(protocol.CodeInvalid, "", "--applyset %q is not a name", p.set).WithHint("use 1 to 63 of a-z, 0-9 and -")
	}
	return nil
}

// mark has the resources say of which set they are.
func (p *pruning) mark(objs []resource.Object) {
	if !p.prune {
		return
	}
	for _, o := range objs {
		m := &o.Head().Metadata
		if m.Annotations == nil {
			m.Annotations = map[string]string{}
		}
		m.Annotations[AnnotationSet] = p.set
	}
}

// superfluous are those of the set that are in the files no more: what is to be deleted, in an order in which
// that goes, and the running claims that are left.
func (p *pruning) superfluous(ctx context.Context, c *api.Client, applied *manifest.Index) (prune, running []resource.Object, err error) {
	for _, kind := range slices.Backward(resource.Kinds()) {
		if !kind.Appliable() {
			continue
		}
		list, err := c.Objects.List(ctx, kind)
		if err != nil { // an incomplete list too: what is not seen may be in the set
			return nil, nil, err
		}
		for _, o := range list {
			m := o.Head().Metadata
			claim, _ := o.(*resource.Claim)
			_, inFiles := applied.Find(kind, m.Name)
			switch fateOf(m.Annotations[AnnotationSet] == p.set, inFiles, m.DeletedAt != nil, claim != nil && claim.Status.Server != "", p.yes) {
			case fatePruned:
				prune = append(prune, o)
			case fateRunning:
				running = append(running, o)
			case fateStays:
			}
		}
	}
	return prune, running, nil
}

// run deletes what is in the files no more, and says so. It asks, unless somebody said --yes.
func (p *pruning) run(ctx context.Context, c *api.Client, src *files.Input, pr *printer.Printer, applied *manifest.Index, dryRun bool) error {
	if !p.prune {
		return nil
	}
	prune, running, err := p.superfluous(ctx, c, applied)
	if err != nil {
		return err
	}
	for _, o := range running {
		claim := o.(*resource.Claim)
		pr.Progress("claim/%s is not in the files, and is kept: it has server %s; delete it by itself, or give --yes", claim.Metadata.Name, claim.Status.Server)
	}
	var wanted []string
	for _, o := range prune {
		wanted = append(wanted, choice.Named(o.Head().Kind, o.Head().Metadata.Name))
	}
	if len(wanted) > 0 && !p.yes && !dryRun {
		if err := src.Confirm(pr.Err, "delete", fmt.Sprintf("%s that %s in the files no more (%s)", printer.Plural(len(wanted), "resource"), isOrAre(len(wanted)), strings.Join(wanted, ", "))); err != nil {
			return protocol.Errorf(protocol.CodeOf(err), "prune", "not confirmed: the files were applied, and nothing was deleted").WithHint("%s", protocol.HintOf(err))
		}
	}
	for i, o := range prune {
		word := "pruned"
		if dryRun {
			word += " (dry run)"
		} else if err := pruneOne(ctx, c, o); err != nil {
			if rest := wanted[i+1:]; len(rest) > 0 {
				pr.Progress("not tried: %s", strings.Join(rest, ", "))
			}
			return err
		}
		if !pr.Tabular() && pr.Form != printer.FormName {
			pr.Progress("%s %s", wanted[i], word)
		} else if err := pr.Text(nil, wanted[i:i+1], wanted[i]+" "+word); err != nil {
			return err
		}
	}
	return nil
}

// pruneOne deletes one as it was seen: who has changed it meanwhile keeps it.
func pruneOne(ctx context.Context, c *api.Client, o resource.Object) error {
	h := o.Head()
	_, err := c.Objects.Delete(api.WithRevision(ctx, h.Metadata.Revision), h.Kind, h.Metadata.Name)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil
	}
	return err
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
