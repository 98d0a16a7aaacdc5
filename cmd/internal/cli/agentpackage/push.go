package agentpackage

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/api"
)

func pushCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "push FILE", Short: "Push a package to the hub", Args: cobra.ExactArgs(1),
		Long: "Push a package to the hub, which keeps it and gives its programs to the agents that an AgentUpgrade\n" +
			"orders to run it. What was interrupted goes on where it was when the same command is given again.\n\n" +
			"A hub with upgrade.keys in its file takes only what one of them signed. What an agent runs is decided\n" +
			"by the keys of its own file.",
		Example: "  rackctl agent-package push rackboot-agent-1.4.0.tar",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			f, err := os.Open(args[0])
			if err != nil {
				return protocol.Errorf(protocol.CodeNotFound, "push a package", "%w", err).WithHint("check the path %s", args[0])
			}
			defer f.Close()
			r, err := agentpackage.NewReader(f)
			if err != nil {
				return err
			}
			bars := &bars{pr: pr}
			p, err := c.AgentPackages.Push(cmd.Context(), r, bars.set)
			bars.end()
			if err != nil {
				return err
			}
			return pr.Text(p, []string{itemName(p)}, fmt.Sprintf("version %s pushed, package %s", p.Version, p.Digest))
		},
	}
}

// bars show one program after the other.
type bars struct {
	pr   *printer.Printer
	of   string
	last *printer.Bar
}

func (b *bars) set(p api.AgentProgram) {
	if p.Architecture != b.of {
		b.end()
		b.of, b.last = p.Architecture, b.pr.NewBar("pushing the program for "+p.Architecture, p.Offset, p.Size)
	}
	b.last.Set(p.Offset)
}

func (b *bars) end() {
	if b.last != nil {
		b.last.End()
	}
}
