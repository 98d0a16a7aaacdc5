package object

import (
	"context"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/apply"
	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// exitDiffers is the exit code of a diff that shows something, that of diff(1) and of kubectl.
const exitDiffers = 1

func diffCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var paths []string
	cmd := &cobra.Command{
		Use: "diff -f FILE|DIR|-", Short: "Show what apply would change", Args: cobra.NoArgs,
		Long: "Show what apply would change, and let the hub check it. The exit code is 0 where nothing would\n" +
			"change, 1 where something would, and 2 to 8 as with any command. What is in a Secret is not shown.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(paths) == 0 {
				return protocol.Errorf(protocol.CodeInvalid, "", "give at least one file: diff -f FILE")
			}
			index, err := manifest.NewIndex(paths, src.Stdin)
			if err != nil {
				return err
			}
			defer index.Close()
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			differs := false
			a := application{client: c, printer: pr, index: index, prune: &pruning{}}
			a.show = func(r apply.Result, want resource.Object) error {
				if r.Outcome == "unchanged" {
					return nil
				}
				differs = true
				return differing(cmd.Context(), c, pr, want)
			}
			if err := a.compare(cmd.Context()); err != nil {
				return err
			}
			if differs {
				return printer.Exit(exitDiffers)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVarP(&paths, "filename", "f", nil, "file, folder or - for standard input; may be repeated")
	return cmd
}

// differing writes what would change of one resource, as the hub has it.
func differing(ctx context.Context, c *api.Client, pr *printer.Printer, want resource.Object) error {
	h := want.Head()
	var have resource.Object
	if h.Kind != resource.KindSecret {
		var err error
		if have, err = c.Objects.Get(ctx, h.Kind, h.Metadata.Name); err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
			return err
		}
		if err != nil {
			have = nil
		}
	}
	return writeDiff(pr.Out, have, want)
}

// writeDiff writes what would change of one resource. have is nil for a new one.
func writeDiff(w io.Writer, have, want resource.Object) error {
	h := want.Head()
	name := choice.Named(h.Kind, h.Metadata.Name)
	if h.Kind == resource.KindSecret {
		_, err := fmt.Fprintf(w, "%s differs; what is in it is not shown\n", name)
		return err
	}
	want.Default()
	after, err := comparable(want)
	if err != nil {
		return err
	}
	var before []byte
	from := "/dev/null"
	if have != nil {
		if before, err = comparable(have); err != nil {
			return err
		}
		from = "hub/" + name
	}
	_, err = io.WriteString(w, terminal.Text(string(diff.Diff(from, before, "file/"+name, after))))
	return err
}

// comparable is what of a resource a file says: its name, labels, annotations and spec.
func comparable(o resource.Object) ([]byte, error) {
	h := o.Head()
	whole := h.Metadata
	h.Metadata = resource.Metadata{Name: whole.Name, Labels: whole.Labels, Annotations: whole.Annotations}
	defer func() { h.Metadata = whole }()
	return editable(o)
}
