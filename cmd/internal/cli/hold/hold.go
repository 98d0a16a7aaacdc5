package hold

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func holdCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var req api.HoldRequest
	var mode, until, expiry, fromAnnotation string
	var soft, ttl, timeout time.Duration
	cmd := &cobra.Command{
		Use: "hold SERVER --key KEY", Short: "Stop a server and keep it off until the hold is released", Args: cobra.ExactArgs(1),
		Long: "Stop a server and keep it off until the hold is released.\n\n" +
			"The same hold again, with the same key, is the same hold. --wait enforced waits until\n" +
			"the rack's agent has it on disk; --wait fenced until the server was proved off.\n" +
			"rackctl fence does that with a hard hold, and exit codes that tell what is known.\n\n" +
			"--from-annotation takes what metal3 has on a BareMetalHost: with a key it is a hold,\n" +
			"without one a reboot.",
		Example: "  rackctl hold n1 --key node/7 --reason 'etcd member removed' --wait fenced\n" +
			"  rackctl hold n1 --key test --ttl 2h --on-expiry release\n" +
			"  rackctl hold n1 --from-annotation 'reboot.metal3.io/node-7={\"mode\":\"hard\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "" && until != "enforced" && until != "fenced" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--wait %q is not one of enforced, fenced", until)
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var hold *resource.Hold
			if cmd.Flags().Changed(flagAnnotation) {
				if err := alone(cmd, "key", "mode", "reason", "ref", "soft-timeout", "ttl", "on-expiry", "force-during-firmware"); err != nil {
					return err
				}
				var request *api.RequestStatus
				if hold, request, err = annotate(cmd, c, args[0], fromAnnotation); err == nil && request != nil {
					return showRequest(pr, *request)
				}
			} else {
				req.Mode, req.SoftTimeout = resource.StopMode(mode), protocol.Duration(soft)
				req.TTL, req.OnExpiry = protocol.Duration(ttl), resource.OnExpiry(expiry)
				hold, err = c.Holds.Create(cmd.Context(), args[0], req)
			}
			if err != nil {
				return err
			}
			if until != "" {
				if hold, err = waitHold(cmd.Context(), pr, c, hold.Metadata.Name, until, timeout); err != nil {
					return err
				}
			}
			return showHold(pr, hold)
		},
	}
	cmd.Flags().StringVar(&req.Key, "key", "", "your name for this hold; one hold per caller, key and server")
	cmd.Flags().StringVar(&mode, "mode", "soft", "soft: ask the system to stop first; hard: power off at once")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for people")
	cmd.Flags().StringVar(&req.Ref, "ref", "", "what it belongs to, kept as it is")
	cmd.Flags().DurationVar(&soft, "soft-timeout", 0, "how long a soft stop may take (default: the rack's)")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long it lies, from when it is enforced (default: until it is released)")
	cmd.Flags().StringVar(&expiry, "on-expiry", "", "when that is over: keep (and say so) or release (default keep)")
	cmd.Flags().BoolVar(&req.ForceDuringFirmware, "force-during-firmware", false, "stop it also while its firmware is changed, which can break it")
	cmd.Flags().StringVar(&fromAnnotation, flagAnnotation, "", "NAME or NAME=VALUE of a reboot annotation of metal3, in place of the flags above")
	cmd.Flags().StringVar(&until, "wait", "", "enforced or fenced")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait")
	return cmd
}

func showHold(pr *printer.Printer, h *resource.Hold) error {
	return pr.Show(kinds.View(resource.KindHold, h))
}

// stateText is where a hold stands, with the reason why it is not further.
func stateText(h *resource.Hold) string {
	if h.Status.Message == "" {
		return string(h.Status.State)
	}
	return string(h.Status.State) + " (" + h.Status.Message + ")"
}

func waitHold(ctx context.Context, pr *printer.Printer, c *api.Client, id, until string, timeout time.Duration) (*resource.Hold, error) {
	var last *resource.Hold
	err := client.Poll(ctx, timeout, "hold/"+id, pr.Telling("hold/"+id), func(ctx context.Context) (string, bool, error) {
		h, err := api.Get[*resource.Hold](ctx, c, id)
		if err != nil {
			return "", false, err
		}
		last = h
		word := h.Status.Word
		if word == resource.HoldReleased {
			return "", false, protocol.Errorf(protocol.CodeConflict, "wait", "hold %s was released by %q", id, h.Status.ReleasedBy).
				WithHint("place it again if it is still needed")
		}
		fenced := word == resource.HoldFenced && h.Status.State == resource.StateFenced // a proof is relied on while its agent speaks
		return stateText(h), fenced || until == "enforced" && (word == resource.HoldEnforced || word == resource.HoldFenced), nil
	})
	return last, err
}
