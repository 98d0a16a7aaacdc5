package inventory

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// options are the flags.
type options struct {
	choice.Choice
	list bool
	host string
}

// Command is rackctl inventory.
func Command(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "inventory [--list | --host NAME]", Short: "Show servers as Ansible's dynamic inventory", Args: cobra.NoArgs,
		Long: `Show servers as Ansible's dynamic inventory, in JSON.

Groups are rack_NAME, phase_PHASE, claim_NAME and label_KEY_VALUE, in lower case, with _ for what Ansible
does not take in a name. ansible_host is the annotation ansible_host of a Server, or the address that its
segment reserves for it; it is never that of a BMC. A list that lacks servers is an error, and nothing is shown.`,
		Example: "  rackctl inventory --list\n  rackctl inventory -l role=worker | jq '.phase_reserved.hosts'\n  ansible-playbook -i inventory.sh -l rack_r1 site.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), hubs, pr) },
	}
	o.Flags(cmd)
	cmd.Flags().BoolVar(&o.list, "list", false, "all groups and hosts, which is the default")
	cmd.Flags().StringVar(&o.host, "host", "", "the variables of this host alone")
	return cmd
}

func (o *options) run(ctx context.Context, hubs *client.Hubs, pr *printer.Printer) error {
	if o.list && o.host != "" {
		return protocol.Errorf(protocol.CodeInvalid, "inventory", "--list and --host were given").WithHint("give either")
	}
	if err := o.Read([]string{resource.KindServer.Plural()}); err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	hosts, err := o.hosts(ctx, c)
	if err != nil {
		return err
	}
	inv := New(hosts)
	if len(inv.LeftOut) > 0 {
		pr.Progress("left out, as Ansible would run it or take it for an option: %s", strings.Join(inv.LeftOut, ", "))
	}
	if pr.Form == printer.FormTable || pr.Form == printer.FormWide {
		pr.Form = printer.FormJSON
	}
	if o.host == "" {
		return pr.Text(inv, nil, "")
	}
	vars, there := inv.Host(o.host)
	if !there {
		return protocol.Errorf(protocol.CodeNotFound, "inventory", "there is no server %q", o.host).WithHint("rackctl get servers lists those that there are")
	}
	return pr.Text(vars, nil, "")
}

// hosts asks the hub for all that are selected.
func (o *options) hosts(ctx context.Context, c *api.Client) ([]Host, error) {
	got, err := o.Fetch(ctx, c, true)
	if err != nil {
		return nil, err
	}
	segments, err := api.GetAll[*resource.Segment](ctx, c)
	if err != nil {
		return nil, err
	}
	reserved := map[string][]resource.Reservation{}
	for _, s := range segments {
		if s.Spec.Service != nil {
			reserved[s.Metadata.Name] = s.Spec.Service.Reservations
		}
	}
	var out []Host
	for _, g := range got {
		if g.Lacks != nil {
			return nil, errors.Join(g.Lacks)
		}
		for _, obj := range g.Objs {
			if s, is := obj.(*resource.Server); is {
				out = append(out, Host{Server: s, Rack: g.Racks.Of(s), Labels: g.Racks.Labels(s), Reservations: reserved[s.Spec.SegmentRef.Name]})
			}
		}
	}
	return out, nil
}
