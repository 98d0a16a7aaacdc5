package object

import (
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func describeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "describe KIND NAME", Short: "Show one resource with its conditions and what to do", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := oneTarget(args)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			obj, err := c.Objects.Get(cmd.Context(), kind, name)
			if err != nil {
				return err
			}
			v, facts, text := kinds.Describe(kind, obj, time.Now())
			if kind == resource.KindServer && pr.Tabular() {
				asked, err := requestFacts(cmd.Context(), c, name)
				if err != nil {
					return err
				}
				facts = append(facts, asked...)
			}
			return pr.Describe(v, facts, text)
		},
	}
}
