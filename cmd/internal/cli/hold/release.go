package hold

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func releaseCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var server, key, reason string
	cmd := &cobra.Command{
		Use: "release HOLD-ID | --server SERVER --key KEY", Short: "Release a hold", Args: cobra.MaximumNArgs(1),
		Long: "Release a hold. Only its owner does, or somebody who may break glass, with a reason\n" +
			"that is recorded.",
		Example: "  rackctl release --server n1 --key node/7\n  rackctl release 01jd0000000000000000000000 --break-glass 'its owner is gone'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (server != "" || key != "") || (server == "") != (key == "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either a hold's id, or --server and --key")
			}
			if cmd.Flags().Changed("break-glass") && strings.TrimSpace(reason) == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--break-glass takes the reason")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var id string
			if len(args) == 1 {
				id = holdID(args[0])
			} else if id, err = findHold(cmd.Context(), c, server, key); err != nil {
				return err
			}
			hold, err := c.Holds.Release(cmd.Context(), id, api.ReleaseRequest{BreakGlass: reason})
			if err != nil {
				return err
			}
			return pr.Text(hold, []string{"hold/" + id}, fmt.Sprintf("hold/%s on server %s released", id, hold.Spec.Server))
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "the server that is held")
	cmd.Flags().StringVar(&key, "key", "", "the hold's key")
	cmd.Flags().StringVar(&reason, "break-glass", "", "why you release somebody else's hold")
	return cmd
}

// holdID is an id as somebody names it: by itself, or as -o name prints it.
func holdID(name string) string { return strings.TrimPrefix(name, "hold/") }

func findHold(ctx context.Context, c *api.Client, server, key string) (string, error) {
	all, err := api.GetAll[*resource.Hold](ctx, c)
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

func confirmDownCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "confirm-down HOLD-ID --reason REASON", Short: "Say that a held server is down whose BMC does not answer", Args: cobra.ExactArgs(1),
		Long: "Say that a held server is down whose BMC does not answer: you looked, or cut its power.\n" +
			"It is your word and no proof: the hold becomes Confirmed, with a receipt that is marked as\n" +
			"manual, and only while the BMC does not answer. What the BMC says later counts more.",
		Example: "  rackctl confirm-down 01jd0000000000000000000000 --reason 'both power cables are out, by J. Doe'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			hold, err := c.Holds.ConfirmDown(cmd.Context(), holdID(args[0]), api.ConfirmRequest{Reason: reason})
			if err != nil {
				return err
			}
			return showHold(pr, hold)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "how you know that it is down")
	return cmd
}
