package hold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// freezeFlags say what is frozen, or thawed.
type freezeFlags struct {
	rack, labels string
	all          bool
}

func (f *freezeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.rack, "rack", "", "the servers of a rack")
	cmd.Flags().BoolVar(&f.all, "all", false, "every server")
}

// name is that of the freeze if none was given; empty where there is none by default.
func (f *freezeFlags) name() string {
	switch {
	case f.all:
		return "all"
	case f.rack != "":
		return "rack-" + f.rack
	}
	return ""
}

func freezeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var f freezeFlags
	var reason string
	var length, timeout time.Duration
	var wait bool
	cmd := &cobra.Command{
		Use: "freeze [NAME] --rack RACK | -l SELECTOR | --all --reason REASON", Short: "Keep servers from being switched on, restarted or armed", Args: cobra.MaximumNArgs(1),
		Long: "Keep servers from being switched on, restarted or armed. What runs is left, and what firmware has\n" +
			"begun to boot goes on; holds, releases, receipts, and stops that somebody asks for go on. Reboots and\n" +
			"resumes are refused, and roll-outs begin nothing with frozen servers. The agents keep it without the\n" +
			"hub. It ends with rackctl thaw, or by its time. Its name is all or rack-RACK, unless you give one.",
		Example: "  rackctl freeze --rack r1 --reason 'smoke in row 7'\n  rackctl freeze --all --for 2h --reason 'feed B is down' --wait\n  rackctl freeze row-7 -l row=7 --reason 'switch replaced'",
		RunE: func(cmd *cobra.Command, args []string) error {
			z, err := f.freeze(args, reason, length)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if _, err := c.Objects.Apply(cmd.Context(), []resource.Object{z}, false); err != nil {
				return whichField(err)
			}
			if z, err = api.Get[*resource.Freeze](cmd.Context(), c, z.Metadata.Name); err != nil {
				return err
			}
			if wait {
				if z, err = frozen(cmd.Context(), c, pr, z.Metadata.Name, timeout); err != nil {
					return err
				}
			}
			return pr.Show(kinds.View(resource.KindFreeze, z))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&f.labels, "selector", "l", "", "servers with these labels: key=value,key")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who wait for the servers")
	cmd.Flags().DurationVar(&length, "for", 0, "end it by itself after so long (default: when somebody ends it)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the agents say of all servers that they are frozen")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait")
	return cmd
}

// freeze is what the flags ask for.
func (f *freezeFlags) freeze(args []string, reason string, length time.Duration) (*resource.Freeze, error) {
	given := ""
	if len(args) == 1 {
		given = args[0]
	}
	z := &resource.Freeze{Spec: resource.FreezeSpec{All: f.all, Reason: reason}}
	z.Metadata.Name = cmp.Or(given, f.name())
	switch {
	case length < 0:
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "--for is how long it lies, such as 2h")
	case z.Metadata.Name == "" && f.labels != "":
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "a freeze of labels needs a name").WithHint("rackctl freeze NAME -l %s --reason REASON", f.labels)
	case z.Metadata.Name == "":
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "give one of --rack, --selector and --all")
	case reason == "":
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "--reason is wanted: whoever waits for the servers sees it")
	}
	if f.rack != "" {
		z.Spec.RackRef = &resource.Ref{Name: f.rack}
	}
	if f.labels != "" {
		sel, err := selector.Parse(f.labels)
		if err != nil {
			return nil, err
		}
		z.Spec.ServerSelector = &sel.Selector
	}
	if length > 0 {
		until := time.Now().Add(length).UTC().Truncate(time.Second)
		z.Spec.Until = &until
	}
	z.Default()
	return z, nil
}

// whichField is an error with what the hub found wrong of the one resource that it was given.
func whichField(err error) error {
	p, ok := errors.AsType[*api.Problem](err)
	if !ok || len(p.Errors) == 0 {
		return err
	}
	var list protocol.FieldErrors
	for _, f := range p.Errors {
		list.Add(f.Path, "%s", f.Message)
	}
	return protocol.Errorf(p.Code, "freeze", "%w", list)
}

// frozen waits until the agents say of all servers that a freeze lies on them.
func frozen(ctx context.Context, c *api.Client, pr *printer.Printer, name string, timeout time.Duration) (z *resource.Freeze, err error) {
	err = client.Poll(ctx, timeout, "freeze "+name, pr.Telling("freeze "+name), func(ctx context.Context) (string, bool, error) {
		var err error
		if z, err = api.Get[*resource.Freeze](ctx, c, name); err != nil {
			return "", false, err
		}
		st := z.Status
		return fmt.Sprintf("%d of %d servers are frozen at their agents", st.Told, st.Servers), st.Told == st.Servers, nil
	})
	return z, err
}

func thawCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var f freezeFlags
	cmd := &cobra.Command{
		Use: "thaw NAME | --rack RACK | --all", Short: "End a freeze", Args: cobra.MaximumNArgs(1),
		Long: "End a freeze. --rack and --all mean the one that rackctl freeze made with the same flag; others\n" +
			"that lie on the same servers stay: rackctl get freezes lists them.",
		Example: "  rackctl thaw --rack r1\n  rackctl thaw row-7",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := f.name()
			if (len(args) == 1) == (name != "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either the name of a freeze, or one of --rack and --all")
			}
			if len(args) == 1 {
				name = args[0]
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			z, err := c.Objects.Delete(cmd.Context(), resource.KindFreeze, name)
			if err != nil {
				return err
			}
			return pr.Text(z, []string{"freeze/" + name}, "freeze/"+name+" ended")
		},
	}
	f.add(cmd)
	return cmd
}
