package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

func (a *app) holdCmd() *cobra.Command {
	var req api.HoldRequest
	var mode, until string
	var soft, timeout time.Duration
	cmd := &cobra.Command{
		Use: "hold SERVER --key KEY", Short: "Stop a server and keep it off until the hold is released", Args: cobra.ExactArgs(1),
		Long: "Stop a server and keep it off until the hold is released.\n\n" +
			"The same hold again, with the same key, is the same hold. --wait enforced waits until\n" +
			"the rack's agent has it on disk; --wait fenced until the server was proved off.",
		Example: "  rackctl hold n1 --key node/7 --reason 'etcd member removed' --wait fenced",
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "" && until != "enforced" && until != "fenced" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--wait %q is not one of enforced, fenced", until)
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			req.Mode, req.SoftTimeout = protocol.StopMode(mode), protocol.Duration(soft)
			hold, err := c.CreateHold(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			if until != "" {
				if hold, err = a.waitHold(cmd.Context(), c, hold.Metadata.Name, until, timeout); err != nil {
					return err
				}
			}
			return a.showHold(hold)
		},
	}
	cmd.Flags().StringVar(&req.Key, "key", "", "your name for this hold; one hold per caller, key and server")
	cmd.Flags().StringVar(&mode, "mode", "soft", "soft: ask the system to stop first; hard: power off at once")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for people")
	cmd.Flags().StringVar(&req.Ref, "ref", "", "what it belongs to, kept as it is")
	cmd.Flags().DurationVar(&soft, "soft-timeout", 0, "how long a soft stop may take (default: the rack's)")
	cmd.Flags().StringVar(&until, "wait", "", "enforced or fenced")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait")
	return cmd
}

func (a *app) showHold(h *protocol.Hold) error {
	v := objectsView(protocol.KindHold, []protocol.Object{h}, time.Now())
	v.single = true
	return a.print.show(v)
}

func (a *app) waitHold(ctx context.Context, c *api.Client, id, until string, timeout time.Duration) (*protocol.Hold, error) {
	var last *protocol.Hold
	err := a.poll(ctx, timeout, "hold/"+id, func(ctx context.Context) (string, bool, error) {
		h, err := api.Get[*protocol.Hold](ctx, c, id)
		if err != nil {
			return "", false, err
		}
		last = h
		word := h.Status.Word
		if word == protocol.HoldReleased {
			return "", false, protocol.Errorf(protocol.CodeConflict, "wait", "hold %s was released by %q", id, h.Status.ReleasedBy).
				WithHint("place it again if it is still needed")
		}
		return string(word), word == protocol.HoldFenced || (until == "enforced" && word == protocol.HoldEnforced), nil
	})
	return last, err
}

func (a *app) releaseCmd() *cobra.Command {
	var server, key string
	cmd := &cobra.Command{
		Use: "release HOLD-ID | --server SERVER --key KEY", Short: "Release a hold", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (server != "" || key != "") || (server == "") != (key == "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either a hold's id, or --server and --key")
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			var id string
			if len(args) == 1 {
				id = args[0]
			} else if id, err = findHold(cmd.Context(), c, server, key); err != nil {
				return err
			}
			hold, err := c.ReleaseHold(cmd.Context(), id, api.ReleaseRequest{})
			if err != nil {
				return err
			}
			return a.print.text(hold, []string{"hold/" + id}, fmt.Sprintf("hold/%s on server %s released", id, hold.Spec.Server))
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "the server that is held")
	cmd.Flags().StringVar(&key, "key", "", "the hold's key")
	return cmd
}

func findHold(ctx context.Context, c *api.Client, server, key string) (string, error) {
	all, err := api.GetAll[*protocol.Hold](ctx, c)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, h := range all {
		if h.Spec.Server == server && h.Spec.Key == key && h.Status.ReleasedAt == nil {
			ids = append(ids, h.Metadata.Name)
		}
	}
	switch len(ids) {
	case 0:
		return "", protocol.Errorf(protocol.CodeNotFound, "release", "server %q has no hold with key %q", server, key).
			WithHint("rackctl get holds lists them")
	case 1:
		return ids[0], nil
	}
	return "", protocol.Errorf(protocol.CodeConflict, "release", "several callers hold server %q with key %q: %s", server, key, strings.Join(ids, ", ")).
		WithHint("release one by its id")
}
