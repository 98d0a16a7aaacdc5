package site

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func failoverCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.FailoverRequest
	cmd := &cobra.Command{
		Use: "failover RACK --reason REASON", Short: "Have the standby of a rack serve it", Args: cobra.ExactArgs(1),
		Long: "Have the agent serve a rack that stands by for it on a second host. The term of the agent before is\n" +
			"over at once; it stops when it hears of it. Never must two act: the hub refuses while nothing shows\n" +
			"that the one before is silent. State with --first-host-off that its host is off or cut off, once it is.\n" +
			"No server is switched on until the holds of that host are known, or given up: rackctl rack settle.",
		Example: "  rackctl rack failover r1 --reason 'mainboard failed'\n  rackctl rack failover r1 --first-host-off --reason 'power cut, ticket 17'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Agents.Failover(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			return pr.Text(out, []string{out.Agent}, fmt.Sprintf("agent %s serves rack %s in place of %s\n"+
				"no server is switched on until the holds of %s are known: rackctl rack settle %s", out.Agent, out.Rack, out.Before, out.Before, out.Rack))
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the record (required)")
	cmd.Flags().BoolVar(&r.FirstHostOff, "first-host-off", false, "I state that the host of the agent before is off, or has no way to the rack")
	return cmd
}

// maxHolds bounds the file of an agent's holds, in bytes.
const maxHolds = 256 << 10

func settleCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.SettleRequest
	from := ""
	cmd := &cobra.Command{
		Use: "settle RACK {--from FILE | --loss-accepted --reason REASON}", Short: "Let servers be switched on again after a failover", Args: cobra.ExactArgs(1),
		Long: "Let servers be switched on again after a failover. Holds that were placed at the first host are on its\n" +
			"disk only. Read them there, with rackboot-agent local-holds, and give the file: the hub takes them over.\n" +
			"Where the disk is lost, accept that: a server that was held only there may then be switched on.",
		Example: "  rackctl rack settle r1 --from r1-1.holds\n  rackctl rack settle r1 --loss-accepted --reason 'disk destroyed, nobody held anything at the host'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != "" {
				info, err := os.Stat(from)
				if err == nil && info.Size() > maxHolds {
					return protocol.Errorf(protocol.CodeInvalid, "settle", "%s is longer than %d bytes", from, maxHolds).
						WithHint("give the file that rackboot-agent local-holds wrote")
				}
				if r.Holds, err = os.ReadFile(from); err != nil {
					return protocol.Errorf(protocol.CodeInvalid, "settle", "%w", err)
				}
			}
			if err := r.Validate(); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Agents.Settle(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			lines := []string{fmt.Sprintf("rack %s: what agent %s held is settled", out.Rack, strings.Join(out.Agents, ", "))}
			for _, h := range out.Adopted {
				lines = append(lines, "hold "+h+" is taken over")
			}
			return pr.Text(out, out.Agents, strings.Join(lines, "\n"))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "what rackboot-agent local-holds wrote on the first host")
	cmd.Flags().BoolVar(&r.LossAccepted, "loss-accepted", false, "holds that were placed at the first host are given up")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the record")
	return cmd
}
