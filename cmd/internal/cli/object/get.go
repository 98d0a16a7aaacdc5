package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func getCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var labels string
	var watch bool
	cmd := &cobra.Command{
		Use: "get KIND [NAME]", Short: "List resources, or show one", Args: cobra.RangeArgs(1, 2),
		Example: "  rackctl get servers\n  rackctl get server n1 -o yaml\n  rackctl get holds -w\n  rackctl get requests\n  rackctl get servers -l row=7 -o name",
		RunE: func(cmd *cobra.Command, args []string) error {
			if id, is := requestTarget(args); is {
				if labels != "" || watch {
					return protocol.Errorf(protocol.CodeInvalid, "", "requests have no labels, and are not watched")
				}
				return getRequests(cmd.Context(), hubs, pr, id)
			}
			kind, name, err := target(args)
			if err != nil {
				return err
			}
			sel, err := parseSelector(labels)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			read := func(ctx context.Context) ([]resource.Object, error) { return readObjects(ctx, c, kind, name, sel) }
			if watch {
				return watchObjects(cmd.Context(), pr, kind, read)
			}
			objs, err := read(cmd.Context())
			lacks, incomplete := errors.AsType[*api.IncompleteError](err)
			if err != nil && !incomplete {
				return err
			}
			v := kinds.Table(kind, objs, time.Now())
			v.Single = name != ""
			switch {
			case len(objs) > 0 || !pr.Tabular():
				if err := pr.Show(v); err != nil {
					return err
				}
			case !incomplete:
				pr.Progress("no %s", kind.Plural())
			}
			if !incomplete {
				return nil
			}
			for _, l := range lacks.Incomplete.Lost {
				pr.Progress("lost: %s %s (%s) %s", kind, l.Name, l.How, l.Note)
			}
			return lacks
		},
	}
	cmd.Flags().StringVarP(&labels, "selector", "l", "", "only those with these labels: key=value,key")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, and show each one again when it changes")
	return cmd
}

func readObjects(ctx context.Context, c *api.Client, kind resource.Kind, name string, sel selector) ([]resource.Object, error) {
	if name != "" {
		obj, err := c.Objects.Get(ctx, kind, name)
		return []resource.Object{obj}, err
	}
	all, err := c.Objects.List(ctx, kind)
	var out []resource.Object
	for _, o := range all {
		if sel.matches(o.Head().Metadata.Labels) {
			out = append(out, o)
		}
	}
	return out, err
}

// watchObjects shows everything once, then what has changed, until ctx ends.
func watchObjects(ctx context.Context, pr *printer.Printer, kind resource.Kind, read func(context.Context) ([]resource.Object, error)) error {
	shown := map[string][]byte{}
	first, lacked := true, false
	for {
		objs, err := read(ctx)
		_, incomplete := errors.AsType[*api.IncompleteError](err)
		switch {
		case ctx.Err() != nil:
			return nil
		case incomplete:
			if !lacked {
				pr.Progress("%s", err)
			}
		case err != nil && (first || protocol.CodeOf(err) != protocol.CodeUnavailable):
			return err
		case err != nil:
			pr.Progress("%s", err)
		}
		lacked = incomplete
		var changed []resource.Object
		for _, o := range objs {
			raw, err := json.Marshal(o)
			if err != nil {
				return protocol.Errorf(protocol.CodeInternal, "watch", "%w", err)
			}
			if name := o.Head().Metadata.Name; !bytes.Equal(shown[name], raw) {
				shown[name] = raw
				changed = append(changed, o)
			}
		}
		if len(changed) > 0 {
			v := kinds.Table(kind, changed, time.Now())
			v.NoHeader = !first
			if err := pr.Show(v); err != nil {
				return err
			}
			first = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(client.Every):
		}
	}
}
