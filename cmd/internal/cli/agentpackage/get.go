package agentpackage

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
)

func view() printer.View {
	return printer.View{Columns: printer.Columns("VERSION DIGEST PROGRAMS STATE UPGRADES AGE", "FROM", "SIGNED-BY", "UPLOADED-BY", "AGENTS", "MADE")}
}

// itemName is what -o name prints.
func itemName(p api.AgentPackage) string { return "agentpackage/" + p.Digest }

func item(p api.AgentPackage, now time.Time) printer.Item {
	var programs, lacks []string
	for _, b := range p.Programs {
		programs = append(programs, b.Architecture)
		if !b.Whole {
			lacks = append(lacks, b.Architecture)
		}
	}
	state := "ready"
	if len(lacks) > 0 {
		state = "lacks " + strings.Join(lacks, ",")
	}
	return printer.Item{Value: p, Name: itemName(p), Cells: []string{
		p.Version, p.Digest, strings.Join(programs, ","), state, strings.Join(p.Upgrades, ","), printer.Age(&p.UploadedAt, now),
		p.From, p.Key, p.UploadedBy, strings.Join(p.Agents, ","), printer.Stamp(&p.MadeAt),
	}}
}

func getCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "get [DIGEST]", Short: "Show the packages that the hub has", Args: cobra.MaximumNArgs(1),
		Long: `Show the packages that the hub has, the newest first. DIGEST is what an AgentUpgrade names in
spec.package. STATE is ready, or which program is not there yet: the same push brings it. SIGNED-BY is
the key of the hub's own upgrade.keys that signed it; it is empty where the hub's file has none.`,
		Example: "  rackctl agent-package get -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			v, now := view(), time.Now()
			if len(args) == 1 {
				p, err := c.AgentPackages.Get(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				v.Items, v.Single = []printer.Item{item(p, now)}, true
				return pr.Show(v)
			}
			list, err := c.AgentPackages.List(cmd.Context())
			if err != nil {
				return err
			}
			for _, p := range list.Items {
				v.Items = append(v.Items, item(p, now))
			}
			return errors.Join(pr.Show(v), list.Incomplete.Err("list packages of agents"))
		},
	}
}

func deleteCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "delete DIGEST", Short: "Delete a package that nobody is to run", Args: cobra.ExactArgs(1),
		Long: `Delete a package. One that an AgentUpgrade names stays, and one that an agent is ordered to run. Its
programs go some minutes later. Agents that run it go on; nobody can be returned to it any more.`,
		Example: "  rackctl agent-package delete sha256:1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			p, err := c.AgentPackages.Delete(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return pr.Text(p, []string{itemName(p)}, "version "+p.Version+" deleted, package "+p.Digest)
		},
	}
}
