package object

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/condition"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func deleteCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var wait bool
	var timeout time.Duration
	var releaseHolds string
	var revision uint64
	var force bool
	cmd := &cobra.Command{
		Use: "delete KIND NAME", Short: "Delete a resource; a claim goes when its server was proved off", Args: cobra.RangeArgs(1, 2),
		Long: "Delete a resource; a claim goes when its server was proved off.\n\n" +
			"A claim whose server is held is not deleted: let the holds' owners release them, or release\n" +
			"them all with --release-holds, which takes the right to break glass where others own them.\n\n" +
			"An entry of a catalogue that is the current image of groups is not deleted, unless with --force:\n" +
			"their revisions keep what they boot, and a group that is not pinned follows what is left.",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := oneTarget(args)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if cmd.Flags().Changed("revision") {
				ctx = api.WithRevision(ctx, revision)
			}
			var obj resource.Object
			switch release := cmd.Flags().Changed("release-holds"); {
			case force && kind != resource.KindBootImage:
				return protocol.Errorf(protocol.CodeInvalid, "", "--force is for boot images")
			case kind == resource.KindBootImage:
				obj, err = c.Objects.DeleteBootImage(ctx, name, force)
			case !release:
				obj, err = c.Objects.Delete(ctx, kind, name)
			case kind != resource.KindClaim:
				return protocol.Errorf(protocol.CodeInvalid, "", "--release-holds is for claims")
			case strings.TrimSpace(releaseHolds) == "":
				return protocol.Errorf(protocol.CodeInvalid, "", "--release-holds takes the reason")
			default:
				obj, err = c.Objects.DeleteClaim(ctx, name, releaseHolds)
			}
			if err != nil {
				return err
			}
			full := strings.ToLower(string(kind)) + "/" + name
			word := "deleted"
			if kind == resource.KindClaim {
				word = "is being released"
				if wait {
					if err := waitGone(cmd.Context(), pr, c, kind, name, timeout); err != nil {
						return err
					}
					word = "deleted"
				}
			}
			return pr.Text(obj, []string{full}, fmt.Sprintf("%s %s", full, word))
		},
	}
	cmd.Flags().StringVar(&releaseHolds, "release-holds", "", "why all holds on the claim's server are released with it")
	cmd.Flags().BoolVar(&force, "force", false, "delete a boot image although it is the current image of groups")
	cmd.Flags().Uint64Var(&revision, "revision", 0, "delete it only if its metadata.revision is still this")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is gone")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Minute, "how long to wait")
	return cmd
}

func waitGone(ctx context.Context, pr *printer.Printer, c *api.Client, kind resource.Kind, name string, timeout time.Duration) error {
	return client.Poll(ctx, timeout, strings.ToLower(string(kind))+"/"+name, pr.Telling(strings.ToLower(string(kind))+"/"+name), func(ctx context.Context) (string, bool, error) {
		obj, err := c.Objects.Get(ctx, kind, name)
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return "gone", true, nil
		}
		if claim, ok := obj.(*resource.Claim); ok && err == nil {
			return strings.TrimSpace(fmt.Sprintf("releasing server %s %s", printer.Dash(claim.Status.Server),
				condition.Codes(claim.Status.Conditions, time.Now()))), false, nil
		}
		return "there", false, err
	})
}
