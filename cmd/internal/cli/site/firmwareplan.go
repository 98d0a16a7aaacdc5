package site

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

func firmwareCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "firmware", Short: "Compare how servers' firmware is set with what it is to be, and set it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(firmwarePlanCmd(hubs, src, pr), firmwareApplyCmd(hubs, src, pr), firmwareStatusCmd(hubs, pr), firmwareWantedCmd(hubs, pr), firmwareRevertCmd(hubs, src, pr))
	return cmd
}

func firmwarePlanCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var file, profile string
	var direct directProbe
	cmd := &cobra.Command{
		Use: "plan SERVER... | --profile PROFILE | --direct -f FILE", Short: "Show what would have to be changed for servers to be as their FirmwareProfile wants them",
		Long: "Show what would have to be changed for servers to be as their FirmwareProfile wants them. Nothing\n" +
			"is changed: the agents read the BMCs, which takes up to 3 minutes for each. rackctl firmware apply\n" +
			"writes it. With --profile it is about all servers that\n" +
			"the profile selects, 8 at once. Of several servers those that cannot be read are said, and the\n" +
			"exit code is 6.\n\n" +
			"TODAY and WANTED are as the BMC spells them, WHERE is the property or BIOS attribute. RESET is\n" +
			"yes where it counts after the next reset of the server only, and waits where the value was written\n" +
			"and waits for that. HINDRANCE is why a setting cannot be had, and -o wide says more.\n\n" +
			"With --direct there is no hub and no agent: rackctl itself reads the BMC at --address, on a host\n" +
			"that reaches it, and takes the profile from a file.",
		Example: "  rackctl firmware plan n1 -o wide\n  rackctl firmware plan --profile workers\n" +
			"  rackctl firmware plan --direct -f profile.yaml --address https://10.7.0.130 --user admin --password-file pw --fingerprint sha256:…",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch servers, all := len(args) > 0, profile != ""; {
			case direct.on == (servers || all), servers && all, direct.on != (file != ""):
				return protocol.Errorf(protocol.CodeInvalid, "", "give either servers, or --profile, or --direct with --file")
			case direct.on:
				plan, err := direct.firmware(cmd.Context(), src, pr, file)
				if err != nil {
					return err
				}
				return showFirmwarePlans(pr, plan)
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if profile != "" {
				if args, err = selectedBy(cmd.Context(), c, profile); err != nil {
					return err
				}
			}
			return firmwarePlans(cmd.Context(), pr, c, args)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "of all servers that this FirmwareProfile selects")
	cmd.Flags().StringVarP(&file, "file", "f", "", "with --direct: file with one FirmwareProfile, - for standard input")
	cmd.Flags().StringVar(&direct.system, "system", "", "with --direct: path of the system (default: the only host behind the BMC)")
	direct.flags(cmd)
	return cmd
}

// selectedBy are the names of the servers that a profile selects.
func selectedBy(ctx context.Context, c *api.Client, profile string) (names []string, err error) {
	obj, err := c.Objects.Get(ctx, resource.KindFirmwareProfile, profile)
	if err != nil {
		return nil, err
	}
	servers, err := c.Objects.List(ctx, resource.KindServer)
	if err != nil {
		return nil, err
	}
	p, is := obj.(*resource.FirmwareProfile)
	for _, s := range servers {
		if is && p.Spec.Selector.Matches(s.Head().Metadata.Labels) {
			names = append(names, s.Head().Metadata.Name)
		}
	}
	if len(names) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, "plan firmware", "profile %s selects no server", profile).
			WithHint("rackctl get firmwareprofiles -o wide shows its selector")
	}
	return names, nil
}

// plansAtOnce is how many servers are asked for at once: an agent takes no more questions of this kind.
const plansAtOnce = 8

// firmwarePlans shows the plans of servers.
func firmwarePlans(ctx context.Context, pr *printer.Printer, c *api.Client, servers []string) error {
	read, failed := plansOf(ctx, pr, c, servers)
	if len(read) == 0 && len(servers) == 1 {
		return failed
	}
	if err := showFirmwarePlans(pr, read...); err != nil {
		return err
	}
	return failed
}

// plansOf are the plans of servers, some asked for at once. Of several those that cannot be read are said.
func plansOf(ctx context.Context, pr *printer.Printer, c *api.Client, servers []string) (read []resource.FirmwarePlan, err error) {
	plans, errs := make([]resource.FirmwarePlan, len(servers)), make([]error, len(servers))
	places := make(chan struct{}, plansAtOnce)
	var wg sync.WaitGroup
	for i, name := range servers {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			plans[i], errs[i] = c.Servers.FirmwarePlan(ctx, name)
		})
	}
	wg.Wait()
	if len(servers) == 1 && errs[0] != nil {
		return nil, errs[0]
	}
	for i, name := range servers {
		if errs[i] != nil {
			pr.Progress("server %s: %s", name, errs[i])
			continue
		}
		read = append(read, plans[i])
	}
	if failed := len(servers) - len(read); failed > 0 {
		return read, protocol.Errorf(protocol.CodeUnavailable, "plan firmware", "%s cannot be read", printer.Plural(failed, "server")).WithHint("rackctl describe server SERVER")
	}
	return read, ctx.Err()
}

// firmware compares a BMC with the profile in a file, without hub and agent.
func (d *directProbe) firmware(ctx context.Context, src *files.Input, pr *printer.Printer, file string) (out resource.FirmwarePlan, err error) {
	p, err := profileIn(src, file)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, api.ProbeWait)
	defer cancel()
	target, err := d.target(ctx, src, pr)
	if err != nil {
		return out, err
	}
	shown, err := firmwareAt(ctx, target, settings.Names(p.Spec))
	if err != nil {
		return out, err
	}
	return settings.Planned(d.address, p, shown), nil
}

// profileIn is the one profile in a file.
func profileIn(src *files.Input, file string) (*resource.FirmwareProfile, error) {
	sources, err := manifest.Read([]string{file}, src.Stdin)
	if err != nil {
		return nil, err
	}
	set, err := manifest.Parse(sources)
	if err != nil {
		return nil, err
	}
	if objs := set.Objects(); len(objs) == 1 {
		if p, is := objs[0].(*resource.FirmwareProfile); is {
			return p, nil
		}
	}
	return nil, protocol.Errorf(protocol.CodeInvalid, "read profile", "%s is not one FirmwareProfile", file)
}

// firmwareAt reads a BMC from this host.
func firmwareAt(ctx context.Context, target bmc.Target, names []string) (protocol.Firmware, error) {
	driver, err := openAt(target, redfish.Config{})
	if err != nil {
		return protocol.Firmware{}, err
	}
	defer driver.Close() //nolint:errcheck // the session ends by itself where it cannot be ended
	reader, ok := driver.(bmc.FirmwareReader)
	if !ok {
		return protocol.Firmware{}, protocol.Errorf(protocol.CodeInternal, "plan firmware", "the driver reads no settings of firmware")
	}
	return reader.Firmware(ctx, names)
}

func showFirmwarePlans(pr *printer.Printer, all ...resource.FirmwarePlan) error {
	if !pr.Tabular() {
		v := printer.View{Single: len(all) == 1}
		for _, p := range all {
			v.Items = append(v.Items, printer.Item{Value: p, Name: "server/" + p.Server})
		}
		return pr.Show(v)
	}
	v := printer.View{Columns: printer.Columns("SERVER SETTING WHERE TODAY WANTED RESET HINDRANCE", "WHY")}
	for _, p := range all {
		for _, x := range p.Problems {
			pr.Progress("server %s: %s: %s", p.Server, x.Part, x.Text)
		}
		if len(p.Changes) == 0 {
			pr.Progress("server %s is as profile %s wants it", p.Server, p.Profile)
		}
		for _, c := range p.Changes {
			v.Items = append(v.Items, printer.Item{Cells: changeCells(p.Server, c)})
		}
	}
	if len(v.Items) == 0 {
		return nil
	}
	return pr.Table(v)
}

// changeCells are a line of the table.
func changeCells(server string, c protocol.FirmwareChange) []string {
	reset := "no"
	switch {
	case c.Hindrance != "":
		reset = ""
	case c.Waits == c.Wanted && c.Waits != "":
		reset = "waits"
	case c.Reset:
		reset = "yes"
	}
	return []string{server, c.Setting, c.Where, c.Today, c.Wanted, reset, string(c.Hindrance), c.Text}
}
