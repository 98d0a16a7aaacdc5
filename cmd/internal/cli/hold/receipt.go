package hold

import (
	"strconv"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// receiptValue is a receipt with the agent's signature, for other programs.
type receiptValue struct {
	*resource.Receipt
	Signed []byte `json:"signed,omitempty"` // COSE_Sign1
}

func receiptCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "receipt HOLD-ID", Short: "Show the proof that a held server is off", Args: cobra.ExactArgs(1),
		Long: "Show the proof that a held server is off, if one is in force: a receipt ends with the run of the agent\n" +
			"that made it, and where the server was not read for longer than GAP-BOUND (-o wide). While the last\n" +
			"recorded read of the server is older than three polls (Stale), it is printed as such, and the exit\n" +
			"code is 11.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			hold, err := api.Get[*resource.Hold](cmd.Context(), c, holdID(args[0]))
			if err != nil {
				return err
			}
			r := hold.Status.Receipt
			if r == nil {
				return protocol.Errorf(protocol.CodeNotFound, "receipt", "hold %s is %s and has no receipt", args[0], printer.Dash(stateText(hold))).
					WithHint("rackctl hold %s --key %s --wait fenced waits for one", hold.Spec.Server, hold.Spec.Key)
			}
			if err := showReceipt(pr, hold); err != nil || !hold.Status.Stale {
				return err
			}
			return printer.WithExit(protocol.Errorf(protocol.CodeTimeout, "receipt", "it is not known whether server %q is off now: hold %s is %s", hold.Spec.Server, args[0], stateText(hold)).
				WithHint("the receipt is of its time; rackctl fence %s --key %s waits for one of now", hold.Spec.Server, hold.Spec.Key), exitUnknown)
		},
	}
}

// showReceipt shows the receipt that a hold has.
func showReceipt(pr *printer.Printer, hold *resource.Hold) error {
	r, proof := hold.Status.Receipt, "reads"
	if d := r.Manual; d != nil {
		proof = "none: word of " + d.By
		pr.Progress("this receipt is no proof: %s said at %s that the server is down: %s", d.By, printer.Dash(printer.Stamp(&d.At)), printer.Dash(d.Reason))
	}
	if hold.Status.Stale {
		proof = "stale: " + proof
		pr.Progress("this receipt is no proof of now: the last recorded read of the server is older than three polls")
	}
	return pr.Show(printer.View{
		Columns: printer.Columns("HOLD SERVER KEY PROOF STOPPED-SINCE CONFIRMED-AT READS SETTLE AGENT", "RUN", "LAST-READ", "FIRST-READ", "LONGEST-GAP", "GAP-BOUND", "ON-WAITED", "ENFORCED-AT", "POWER-EPOCH", "RESTORE-POLICY", "REF"),
		Single:  true,
		Items: []printer.Item{{
			Value: receiptValue{r, hold.Status.SignedReceipt}, Name: "receipt/" + hold.Metadata.Name,
			Cells: []string{
				r.HoldID, r.Server, r.Key, proof, printer.Stamp(&r.StoppedSince), printer.Stamp(&r.ConfirmedAt), strconv.Itoa(r.Reads),
				r.Settle.String(), r.Agent, printer.Dash(r.Run), printer.Dash(printer.Stamp(hold.Status.ReadAt)), printer.Dash(printer.Stamp(&r.FirstRead)),
				r.LongestGap.String(), r.GapBound.String(), r.OnWaited.String(), printer.Stamp(&r.EnforcedAt), strconv.FormatUint(r.PowerEpoch, 10), string(r.RestorePolicy), r.Ref,
			},
		}},
	})
}
