package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *app) getCmd() *cobra.Command {
	var labels string
	var watch bool
	cmd := &cobra.Command{
		Use: "get KIND [NAME]", Short: "List resources, or show one", Args: cobra.RangeArgs(1, 2),
		Example: "  rackctl get servers\n  rackctl get server n1 -o yaml\n  rackctl get holds -w\n  rackctl get servers -l row=7 -o name",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := target(args)
			if err != nil {
				return err
			}
			sel, err := parseSelector(labels)
			if err != nil {
				return err
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			read := func(ctx context.Context) ([]resource.Object, error) { return readObjects(ctx, c, kind, name, sel) }
			if watch {
				return a.watch(cmd.Context(), kind, read)
			}
			objs, err := read(cmd.Context())
			if err != nil {
				return err
			}
			v := objectsView(kind, objs, time.Now())
			v.single = name != ""
			if len(objs) == 0 && (a.print.form == formTable || a.print.form == formWide) {
				a.progress("no %s", kind.Plural())
				return nil
			}
			return a.print.show(v)
		},
	}
	cmd.Flags().StringVarP(&labels, "selector", "l", "", "only those with these labels: key=value,key")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, and show each one again when it changes")
	return cmd
}

func readObjects(ctx context.Context, c *api.Client, kind resource.Kind, name string, sel selector) ([]resource.Object, error) {
	if name != "" {
		obj, err := c.GetObject(ctx, kind, name)
		return []resource.Object{obj}, err
	}
	all, err := c.ListObjects(ctx, kind)
	var out []resource.Object
	for _, o := range all {
		if sel.matches(o.Head().Metadata.Labels) {
			out = append(out, o)
		}
	}
	return out, err
}

// watch shows everything once, then what has changed, until ctx ends.
func (a *app) watch(ctx context.Context, kind resource.Kind, read func(context.Context) ([]resource.Object, error)) error {
	shown := map[string][]byte{}
	first := true
	for {
		objs, err := read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || protocol.CodeOf(err) != protocol.CodeUnavailable):
			return err
		case err != nil:
			a.progress("%s", err)
		}
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
			v := objectsView(kind, changed, time.Now())
			v.noHeader = !first
			if err := a.print.show(v); err != nil {
				return err
			}
			first = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}
