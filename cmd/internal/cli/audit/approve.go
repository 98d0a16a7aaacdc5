package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func approveCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve", Short: "Approve destructive actions, or deny them", Args: cobra.NoArgs,
		Long: "Approve destructive actions, or deny them: the stop of many servers of a rack at once, the\n" +
			"release of somebody else's hold, an installation over what there is, and the boot of what discards\n" +
			"disks. The hub makes an approval when an action needs one; it waits an\n" +
			"hour. When enough people have granted it, the destructive key signs it: the hub's, or that of\n" +
			"whoever runs approve sign.",
	}
	cmd.AddCommand(approveListCmd(hubs, pr), approveShowCmd(hubs, pr), approveGrantCmd(hubs, src, pr), approveDenyCmd(hubs, pr), approveSignCmd(hubs, src, pr))
	return cmd
}

func approveListCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List approvals, also those that are over", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			all, err := c.Approvals.List(cmd.Context())
			if _, incomplete := errors.AsType[*api.IncompleteError](err); err != nil && !incomplete {
				return err
			}
			return errors.Join(pr.Show(approvalsView(all, time.Now())), err)
		},
	}
}

func approvalsView(all []resource.ApprovalRequest, now time.Time) printer.View {
	v := printer.View{Columns: printer.Columns("ID CLASS RACK TARGETS STATE GRANTED ASKED AGE", "REASON")}
	for _, r := range all {
		v.Items = append(v.Items, printer.Item{Value: r, Name: "approval/" + r.ID, Cells: []string{
			r.ID, string(r.Class), r.Rack, fmt.Sprint(len(r.Targets)), string(r.State), fmt.Sprintf("%d of %d", len(r.By), r.Approvers),
			strings.Join(r.Asked, ","), printer.Age(&r.CreatedAt, now), r.Reason,
		}})
	}
	return v
}

func approveShowCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show in words what an approval allows", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			r, err := c.Approvals.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return showApproval(pr, r)
		},
	}
}

func showApproval(pr *printer.Printer, r resource.ApprovalRequest) error {
	return pr.Text(r, []string{"approval/" + r.ID}, approvalText(r))
}

// approvalText says in words what is approved. It is a hub's word and is quoted where it
// is free text: a terminal shows what is signed, and nothing else.
func approvalText(r resource.ApprovalRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Approval %s, version %d: %s\n", r.ID, r.Version, r.State)
	what := map[resource.ApprovalClass]string{
		resource.ApproveBulkStop:     "FORCE OFF %d servers of rack %s, more than its agent lets pass at once:",
		resource.ApproveHoldOverride: "RELEASE %d holds on rack %s that somebody else owns:",
		resource.ApproveReprovision:  "INSTALL ANEW %d servers of rack %s:",
		resource.ApproveWipe:         "WIPE %d servers of rack %s:",
		resource.ApproveFirmware:     "WRITE FIRMWARE SETTINGS of %d servers of rack %s:",
	}[r.Class]
	if what == "" {
		what = "Something that this rackctl does not know, with %d targets on rack %s:"
	}
	fmt.Fprintf(&b, what+"\n", len(r.Targets), r.Rack)
	for _, t := range r.Targets {
		fmt.Fprintf(&b, "  %s%s\n", t, bootText(r.Approval, t))
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, "Reason: %q\n", r.Reason)
	}
	fmt.Fprintf(&b, "Asked by: %q\n", r.Asked)
	fmt.Fprintf(&b, "Granted by: %q, %d of %d\n", r.By, len(r.By), r.Approvers)
	if !r.NotAfter.IsZero() {
		fmt.Fprintf(&b, "Counts from %s to %s\n", printer.Stamp(&r.NotBefore), printer.Stamp(&r.NotAfter))
	}
	if r.Message != "" {
		fmt.Fprintf(&b, "%q\n", r.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// bootText says what a target may boot, where the approval says that.
func bootText(r resource.Approval, target string) string {
	i := slices.IndexFunc(r.Boots, func(t resource.ApprovedBoot) bool { return t.Server == target })
	if i < 0 {
		return ""
	}
	t, text := r.Boots[i], ""
	if t.BootEnv != "" {
		text += fmt.Sprintf(", boots %q", t.BootEnv)
	}
	if t.Image != "" {
		text += fmt.Sprintf(", image %q", t.Image)
	}
	if t.Settings != "" {
		text += fmt.Sprintf(", settings %q", t.Settings)
	}
	return text + fmt.Sprintf(", for the owner with UID %q", t.Owner)
}

func approveGrantCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "grant ID", Short: "Grant an approval", Args: cobra.ExactArgs(1),
		Long: "Grant an approval, after it was shown. Where a policy wants two people, who asked for the action\n" +
			"may be the first of them and never the second. If its targets change meanwhile, nothing is granted.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			r, err := c.Approvals.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := confirm(src, pr, r, "grant", yes); err != nil {
				return err
			}
			if r, err = c.Approvals.Grant(cmd.Context(), r.ID, api.GrantRequest{Version: r.Version}); err != nil {
				return err
			}
			return told(pr, r)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// told says how far an approval is, and what comes next.
func told(pr *printer.Printer, r resource.ApprovalRequest) error {
	line := fmt.Sprintf("approval/%s %s", r.ID, strings.ToLower(string(r.State)))
	switch {
	case r.State == resource.ApprovalPending:
		line += fmt.Sprintf(": %d of %d have granted it", len(r.By), r.Approvers)
	case r.State == resource.ApprovalGranted && r.Message != "":
		line += ": " + r.Message
	case r.State == resource.ApprovalGranted:
		line += fmt.Sprintf(": it is to be signed: rackctl approve sign %s --key FILE", r.ID)
	}
	return pr.Text(r, []string{"approval/" + r.ID}, line)
}

func approveDenyCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "deny ID", Short: "Deny an approval", Args: cobra.ExactArgs(1),
		Long: "Deny an approval. A release of somebody else's hold is taken back by it. Holds whose stop waits\n" +
			"stay, and their servers are not forced off; release them, or ask again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			r, err := c.Approvals.Deny(cmd.Context(), args[0], api.DenyRequest{Reason: reason})
			if err != nil {
				return err
			}
			return told(pr, r)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why not")
	return cmd
}

func approveSignCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var file string
	var yes bool
	cmd := &cobra.Command{
		Use: "sign ID --key FILE", Short: "Sign a granted approval with a destructive key that the hub does not have", Args: cobra.ExactArgs(1),
		Long: "Sign a granted approval with a destructive key that the hub does not have. What is signed is\n" +
			"shown first, and it is signed here: the key goes nowhere.",
		Example: "  rackctl approve sign 01jd0000000000000000000000 --key /media/usb/destructive.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--key takes the file with the destructive key")
			}
			key, err := wire.ReadPrivateKey(file)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			r, err := c.Approvals.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if r.State != resource.ApprovalGranted || !r.NeedsKey {
				return protocol.Errorf(protocol.CodeConflict, "sign", "approval %s is %s, and there is nothing to sign", r.ID, r.State).
					WithHint("rackctl approve show %s", r.ID)
			}
			if wrong := r.Validate(); len(wrong) > 0 || r.ID != args[0] {
				return protocol.Errorf(protocol.CodeDenied, "sign", "what the hub wants signed is no approval: %w", wrong)
			}
			if err := confirm(src, pr, r, "sign", yes); err != nil {
				return err
			}
			signed, err := wire.Seal(wire.NewSigner(key), wire.FactApproval, r.Approval)
			if err != nil {
				return err
			}
			if r, err = c.Approvals.Sign(cmd.Context(), r.ID, api.SignRequest{Signed: signed}); err != nil {
				return err
			}
			return told(pr, r)
		},
	}
	cmd.Flags().StringVar(&file, "key", "", "the destructive key: PEM, readable by you only")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm shows an approval, and asks.
func confirm(src *files.Input, pr *printer.Printer, r resource.ApprovalRequest, verb string, yes bool) error {
	pr.Progress("%s", approvalText(r))
	if yes {
		return nil
	}
	return src.Confirm(pr.Err, verb, "it")
}
