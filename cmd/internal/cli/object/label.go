package object

import (
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func labelCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var overwrite bool
	var dry dryRun
	cmd := &cobra.Command{
		Use: "label KIND NAME... KEY=VALUE|KEY-...", Short: "Set labels of resources, or take them away", Args: cobra.MinimumNArgs(2),
		Long: "Set labels of resources, or take them away with KEY-. A label that has another value already is\n" +
			"changed with --overwrite only. Labels decide who may do what, which servers claims and groups take,\n" +
			"and what a selector means; the hub checks that as it does for what is applied.",
		Example: "  rackctl label server n1 n2 row=7\n  rackctl label server/n1 row-",
		RunE: func(cmd *cobra.Command, args []string) error {
			names, changes := namesAnd(args)
			set, err := parseAnnotations(changes)
			if err != nil {
				return err
			}
			wanted, err := choice.Targets(names)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var objs []resource.Object
			for _, w := range wanted {
				if len(w.Names) == 0 {
					return protocol.Errorf(protocol.CodeInvalid, "", "give a name too: %s NAME", args[0])
				}
				for _, name := range w.Names {
					obj, err := readWritten(cmd.Context(), c, "label", w.Kind, name)
					if err != nil {
						return err
					}
					if err := relabel(obj, set, overwrite); err != nil {
						return err
					}
					objs = append(objs, obj)
				}
			}
			out, err := c.Objects.Apply(cmd.Context(), objs, bool(dry))
			if err != nil {
				return err
			}
			all, lines := outcomeText(out.Results, "labeled", bool(dry))
			return pr.Text(out, all, strings.Join(lines, "\n"))
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "change labels that have another value")
	addDryRun(cmd.Flags(), &dry, "let the hub check everything, and change nothing")
	return cmd
}

// relabel changes the labels of a resource.
func relabel(obj resource.Object, set []annotation, overwrite bool) error {
	m := &obj.Head().Metadata
	next := maps.Clone(m.Labels)
	if next == nil {
		next = map[string]string{}
	}
	for _, l := range set {
		was, there := next[l.name]
		switch {
		case l.remove:
			delete(next, l.name)
		case there && was != l.value && !overwrite:
			return protocol.Errorf(protocol.CodeConflict, "label", "%s has %s=%s already", choice.Named(obj.Head().Kind, m.Name), l.name, was).
				WithHint("give --overwrite to change it; nothing was changed")
		default:
			next[l.name] = l.value
		}
	}
	m.Labels = next
	return nil
}
