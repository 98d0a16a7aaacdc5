package site

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
	"rackboot/protocol/settings"
)

// firmwareOrder is how settings are asked to be written.
type firmwareOrder struct {
	reason, policy string
	yes            bool
}

func (o *firmwareOrder) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for who owns the servers")
	cmd.Flags().StringVar(&o.policy, "policy", string(resource.MaintenanceOwnerApproval), "of servers with a claim: OwnerApproval or Enforced")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
}

func firmwareApplyCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var labels, profile string
	var order firmwareOrder
	cmd := &cobra.Command{
		Use: "apply SERVER... | -l SELECTOR | --profile PROFILE --reason REASON", Short: "Write firmware settings as the servers' FirmwareProfile wants them",
		Long: "Write firmware settings as the servers' FirmwareProfile wants them. The plan is shown, and asked about; a\n" +
			"setting that cannot be had on any of the servers keeps all of it from being written. Then each server that is\n" +
			"otherwise gets a Maintenance, which stops it, keeps how it is set, writes, powers it on into the firmware's own\n" +
			"menus, so that POST takes what was written and nothing boots, reads back, stops it, and ends. A server with\n" +
			"a claim waits for its owner's approval, unless --policy is Enforced, and runs again after it.\n\n" +
			"What is written is what was shown, whatever becomes of the profile. rackctl firmware status shows how far it is.",
		Example: "  rackctl firmware apply n1 --reason 'HTTP boot'\n  rackctl firmware apply --profile workers --reason 'HTTP boot' --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, is := range []bool{len(args) > 0, labels != "", profile != ""} {
				if is {
					given++
				}
			}
			if given != 1 || strings.TrimSpace(order.reason) == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either servers, or --selector, or --profile; and --reason")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			switch {
			case profile != "":
				args, err = selectedBy(cmd.Context(), c, profile)
			case labels != "":
				args, err = labelled(cmd.Context(), c, labels)
			}
			if err != nil {
				return err
			}
			return order.apply(cmd.Context(), src, pr, c, args)
		},
	}
	cmd.Flags().StringVarP(&labels, "selector", "l", "", "all servers with these labels: key=value,key")
	cmd.Flags().StringVar(&profile, "profile", "", "all servers that this FirmwareProfile selects")
	order.flags(cmd)
	return cmd
}

// labelled are the names of the servers with some labels.
func labelled(ctx context.Context, c *api.Client, labels string) (names []string, err error) {
	sel, err := selector.Parse(labels)
	if err != nil {
		return nil, err
	}
	servers, err := c.Objects.List(ctx, resource.KindServer)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if sel.Matches(s.Head().Metadata.Labels) {
			names = append(names, s.Head().Metadata.Name)
		}
	}
	if len(names) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "apply firmware", "no server has the labels %s", labels)
	}
	return names, nil
}

// apply writes what the plans of servers say, if nothing stands against any of them.
func (o *firmwareOrder) apply(ctx context.Context, src *files.Input, pr *printer.Printer, c *api.Client, servers []string) error {
	const op = "apply firmware"
	plans, err := plansOf(ctx, pr, c, servers)
	if err != nil {
		return err
	}
	table := *pr
	table.Form, table.Out = printer.FormTable, pr.Err // what is made is the command's output
	if err := showFirmwarePlans(&table, plans...); err != nil {
		return err
	}
	var made []resource.Object
	for _, p := range plans {
		want, hindered := settings.Wanted(p)
		if len(hindered) > 0 {
			return protocol.Errorf(protocol.CodeConflict, op, "server %s cannot have %s: %s; nothing was made", p.Server, hindered[0].Setting, hindered[0].Hindrance).
				WithHint("take it out of profile %s, or leave the server out: rackctl firmware plan %s -o wide says more", p.Profile, p.Server)
		}
		if len(want) > 0 {
			made = append(made, o.maintenance(p.Server, want))
		}
	}
	if len(made) == 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "nothing is to be changed")
	}
	return o.make(ctx, src, pr, c, "write firmware settings of", made)
}

// maintenance writes settings of a server. There is one of a server at a time.
func (o *firmwareOrder) maintenance(server string, want []resource.FirmwareWanted) *resource.Maintenance {
	const longest = 63
	name := "firmware-" + server
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: server}, Policy: resource.MaintenancePolicy(o.policy), Reason: o.reason, Firmware: want,
	}}
	m.Metadata.Name = strings.TrimRight(name[:min(len(name), longest)], "-")
	m.Default()
	return m
}

// make asks, and makes the maintenances.
func (o *firmwareOrder) make(ctx context.Context, src *files.Input, pr *printer.Printer, c *api.Client, verb string, made []resource.Object) error {
	if !o.yes {
		if err := src.Confirm(pr.Err, verb, printer.Plural(len(made), "server")); err != nil {
			return err
		}
	}
	for _, m := range made {
		if wrong := m.(*resource.Maintenance).Validate(); len(wrong) > 0 {
			return protocol.Errorf(protocol.CodeInvalid, verb, "%w", wrong)
		}
	}
	if _, err := c.Objects.Apply(ctx, made, false); err != nil {
		return err
	}
	v := printer.View{Columns: printer.Columns("SERVER MAINTENANCE")}
	for _, m := range made {
		name, server := m.Head().Metadata.Name, m.(*resource.Maintenance).Spec.ServerRef.Name
		v.Items = append(v.Items, printer.Item{Value: m, Name: "maintenance/" + name, Cells: []string{server, name}})
	}
	return pr.Show(v)
}

func firmwareRevertCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var order firmwareOrder
	cmd := &cobra.Command{
		Use: "revert SERVER --reason REASON", Short: "Put a server's firmware settings back to what they were", Args: cobra.ExactArgs(1),
		Long: "Put a server's firmware settings back to what they were before they were last written. It is done as apply does it, and\n" +
			"is a writing itself: reverting twice is to have them as they were written. As long as a profile wants\n" +
			"them otherwise the server says FirmwareDrift.",
		Example: "  rackctl firmware revert n1 --reason 'does not boot'",
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "revert firmware"
			if strings.TrimSpace(order.reason) == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "give --reason")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			run, err := c.Servers.FirmwareStatus(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			want := run.Back()
			switch {
			case !run.Stage.Over():
				return protocol.Errorf(protocol.CodeConflict, op, "they are being written: %s", run.Stage).WithHint("rackctl firmware status %s; to end it, rackctl delete maintenance", args[0])
			case len(want) == 0:
				return protocol.Errorf(protocol.CodeConflict, op, "nothing was written, and nothing is to be put back")
			}
			table := *pr
			table.Form, table.Out = printer.FormTable, pr.Err
			v := printer.View{Columns: printer.Columns("SERVER SETTING WHERE NOW WANTED")}
			for _, w := range want {
				v.Items = append(v.Items, printer.Item{Cells: []string{args[0], w.Setting, w.Where, nowOf(run, w.Where), w.Value}})
			}
			if err := table.Table(v); err != nil {
				return err
			}
			return order.make(cmd.Context(), src, pr, c, "put back firmware settings of", []resource.Object{order.maintenance(args[0], want)})
		},
	}
	order.flags(cmd)
	return cmd
}

func nowOf(run resource.FirmwareRun, where string) string {
	for _, s := range run.Settings {
		if s.Where == where {
			return s.Now
		}
	}
	return ""
}
