package site

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

func serverFirmwareCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var reason string
	var length time.Duration
	var done bool
	cmd := &cobra.Command{
		Use: "firmware SERVER --for DURATION --reason REASON | --done", Short: "Mark that a server's firmware is changed, or that this is over", Args: cobra.ExactArgs(1),
		Long: "Mark that a server's firmware is changed, or that this is over. While the mark lies, holds and\n" +
			"reboots do not stop the server, which could break it, and nothing powers it on; holds say\n" +
			"HoldBlocked. A hold with --force-during-firmware stops it all the same. The mark ends by\n" +
			"itself, after a day at most.",
		Example: "  rackctl server firmware n1 --for 30m --reason 'BIOS 2.1'\n  rackctl server firmware n1 --done",
		RunE: func(cmd *cobra.Command, args []string) error {
			if done == (length != 0) || length < 0 {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either --for with how long it may take, or --done")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			s, err := c.Servers.Firmware(cmd.Context(), args[0], api.FirmwareRequest{Reason: reason, For: protocol.Duration(length)})
			if err != nil {
				return err
			}
			if w := s.Status.Firmware; w != nil {
				pr.Progress("server %s: firmware work until %s", args[0], printer.Stamp(&w.NotAfter))
			} else {
				pr.Progress("server %s: no firmware work", args[0])
			}
			return pr.Show(kinds.View(resource.KindServer, s))
		},
	}
	cmd.Flags().DurationVar(&length, "for", 0, "how long it takes at most, up to 24h")
	cmd.Flags().StringVar(&reason, "reason", "", "what is done")
	cmd.Flags().BoolVar(&done, "done", false, "it is over")
	return cmd
}
