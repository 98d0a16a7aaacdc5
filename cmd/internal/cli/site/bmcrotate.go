package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func rotateCmd(hubs *client.Hubs, pr *printer.Printer, use, short, long string, own bool) *cobra.Command {
	req := api.RotateBMC{Own: own}
	drop := ""
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), Long: long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Drop = resource.DropOld(drop); drop == "never" {
				req.Drop = resource.DropNever
			}
			if err := req.Check(); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			b, err := c.BMCs.Rotate(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			pr.Progress("the agent changes it when the BMC answers, no hold lies on a server behind it and none boots; rackctl describe bmc %s", args[0])
			return pr.Text(b, []string{"bmc/" + args[0]}, "bmc/"+args[0]+" rotating")
		},
	}
	cmd.Flags().StringVar(&req.User, "user", "", "user of the new account (default: the one in use)")
	cmd.Flags().IntVar(&req.Length, "length", resource.DefaultNewPassword, "characters of the new password; more than 16 or 20 do not fit IPMI")
	cmd.Flags().StringVar(&drop, "drop-old", "never", "what becomes of a former user of another name: never, disable or password")
	return cmd
}

func bmcRotateCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return rotateCmd(hubs, pr, "rotate BMC", "Change the account of a BMC to a new random password",
		"Change the account of a BMC. The hub makes a new random password and nobody sees it. The agent\n"+
			"writes it to the BMC, logs in with it, and only then uses it; if that fails, the old one stays.\n\n"+
			"Only the account of a Secret that this BMC alone uses is changed; see rackctl bmc own.", false)
}

func bmcOwnCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return rotateCmd(hubs, pr, "own BMC --user NAME", "Give a BMC an account and a Secret of its own",
		"Give a BMC whose account is local to the agent, or shared with other BMCs, an account and a\n"+
			"Secret of its own. The present account makes the new one, and is used until that was proved.", true)
}
