package object

import (
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
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
			if claim, is := obj.(*resource.Claim); is && pr.Tabular() {
				cfg, err := api.Get[*resource.BootConfiguration](cmd.Context(), c, name)
				if protocol.CodeOf(err) == protocol.CodeNotFound {
					cfg = nil
				} else if err != nil {
					return err
				}
				facts = append(facts, kinds.ClaimBoot(claim, cfg)...)
			}
			return pr.Describe(v, facts, text)
		},
	}
}
