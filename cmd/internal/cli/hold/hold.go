package hold

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func holdCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var req api.HoldRequest
	var mode, until, expiry, fromAnnotation string
	var soft, ttl, timeout time.Duration
	var several inHub
	cmd := &cobra.Command{
		Use: "hold SERVER... --key KEY", Short: "Stop a server and keep it off until the hold is released",
		Long: "Stop a server and keep it off until the hold is released.\n\n" +
			"The same hold again, with the same key, is the same hold. --wait enforced waits until\n" +
			"the rack's agent has it on disk; --wait fenced until the server was proved off.\n" +
			"rackctl fence does that with a hard hold, and exit codes that tell what is known.\n\n" +
			"Servers that a selector means are asked about first, and are at most --limit. A failure ends it:\n" +
			"which servers were not tried is said.\n\n" +
			"--from-annotation takes what metal3 has on a BareMetalHost: with a key it is a hold,\n" +
			"without one a reboot.",
		Example: "  rackctl hold n1 --key node/7 --reason 'etcd member removed' --wait fenced\n" +
			"  rackctl hold -l row=7 --key crac-2 --reason 'cooling is out'\n" +
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
			if cmd.Flags().Changed(flagAnnotation) {
				if len(args) != 1 {
					return protocol.Errorf(protocol.CodeInvalid, "", "--%s is for one server", flagAnnotation)
				}
				if err := alone(cmd, "key", "mode", "reason", "ref", "soft-timeout", "ttl", "on-expiry", "force-during-firmware", "selector", "field-selector"); err != nil {
					return err
				}
				hold, request, err := annotate(cmd, c, args[0], fromAnnotation)
				switch {
				case err != nil:
					return err
				case request != nil:
					return showRequest(pr, *request)
				}
				return finishHolds(cmd.Context(), pr, c, []*resource.Hold{hold}, until, timeout)
			}
			servers, err := several.servers(cmd, hubs, src, pr, "hold", args)
			if err != nil {
				return err
			}
			req.Mode, req.SoftTimeout = resource.StopMode(mode), protocol.Duration(soft)
			req.TTL, req.OnExpiry = protocol.Duration(ttl), resource.OnExpiry(expiry)
			if several.fits(servers) {
				b, known, err := several.ask(cmd.Context(), pr, c, api.BulkRequest{Action: api.BulkHold, Names: servers, Hold: &req})
				if err != nil {
					return err
				}
				if known {
					return several.showHolds(cmd.Context(), pr, c, b, servers, req.Key, until, timeout)
				}
			}
			var holds []*resource.Hold
			err = several.Each(pr, servers, func(server string) error {
				hold, err := c.Holds.Create(cmd.Context(), server, req)
				if err == nil {
					holds = append(holds, hold)
				}
				return err
			})
			if len(holds) == 0 {
				return err
			}
			return errors.Join(finishHolds(cmd.Context(), pr, c, holds, until, timeout), err)
		},
	}
	several.flags(cmd)
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

// finishHolds waits for holds that were placed, as far as that was asked for, and shows them.
func finishHolds(ctx context.Context, pr *printer.Printer, c *api.Client, holds []*resource.Hold, until string, timeout time.Duration) error {
	var shown []resource.Object
	for _, hold := range holds {
		if limit := hold.Status.Limit; limit != "" {
			pr.Progress("hold/%s: %s", hold.Metadata.Name, limit.Words())
		}
		if until != "" {
			var err error
			if hold, err = waitHold(ctx, pr, c, hold.Metadata.Name, until, timeout); err != nil {
				return err
			}
		}
		shown = append(shown, hold)
	}
	v := kinds.Table(resource.KindHold, shown, time.Now())
	v.Single = len(shown) == 1
	return pr.Show(v)
}

// stateText is where a hold stands, with the reason why it is not further, and what keeps it from
// being forced while it is not proved.
func stateText(h *resource.Hold) string {
	why := h.Status.Message
	if l := h.Status.Limit; l != "" && h.Status.State != resource.StateFenced {
		why = strings.TrimPrefix(why+"; "+l.Words(), "; ")
	}
	if why == "" {
		return string(h.Status.State)
	}
	return string(h.Status.State) + " (" + why + ")"
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
