package group

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func groupCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "group", Short: "See what groups of servers have booted, return to it, and keep it", Args: cobra.NoArgs,
		Long: "See what groups of servers have booted, return to it, and keep it. What a group's servers boot is\n" +
			"a revision: image and user data as one, numbered, made by the hub, and never changed afterwards.\n" +
			"rackctl rollout shows how a revision reaches the servers.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(groupListCmd(hubs, pr), groupHistoryCmd(hubs, pr), groupDiffCmd(hubs, pr), groupRevertCmd(hubs, pr))
	cmd.AddCommand(groupWordCmds(hubs, pr)...)
	return cmd
}

func groupListCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List groups with their revisions and roll-outs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			objs, err := c.Objects.List(cmd.Context(), resource.KindServerGroup)
			if err != nil {
				return err
			}
			if len(objs) == 0 && pr.Tabular() {
				pr.Progress("no %s", resource.KindServerGroup.Plural())
				return nil
			}
			return pr.Show(kinds.Table(resource.KindServerGroup, objs, time.Now()))
		},
	}
}

func groupHistoryCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "history GROUP", Short: "List a group's revisions, oldest first", Args: cobra.ExactArgs(1),
		Long: "List a group's revisions, oldest first: who or what made each, why, what it boots, and how it\n" +
			"went. STUB is its user data, a Secret with its version; -o wide has the digest of what that holds.\n" +
			"MARKS says which is current, which the group is pinned to, and whose entry of the\n" +
			"catalogue is rejected. How many are kept is spec.historyLimit of the group.",
		Example: "  rackctl group history workers -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			g, err := api.Get[*resource.ServerGroup](cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			list, err := groupHistory(cmd.Context(), c, g)
			if err != nil {
				return err
			}
			if len(list) == 0 && pr.Tabular() {
				pr.Progress("group %s has no revision yet", g.Metadata.Name)
				return nil
			}
			return pr.Show(historyView(g, list))
		},
	}
}

// groupHistory are the revisions of a group, and of none before it with the same name.
func groupHistory(ctx context.Context, c *api.Client, g *resource.ServerGroup) (out []*resource.GroupRevision, err error) {
	all, err := c.Objects.List(ctx, resource.KindGroupRevision)
	for _, o := range all {
		if r, ok := o.(*resource.GroupRevision); ok && r.Spec.Group == g.Metadata.Name && r.Spec.GroupUID == g.Metadata.UID {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *resource.GroupRevision) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
	return out, err
}

func historyView(g *resource.ServerGroup, list []*resource.GroupRevision) printer.View {
	v := printer.View{Columns: printer.Columns("REVISION AT BY CAUSE VERSION DIGEST STUB RESULT VERIFIED MARKS", "BOOTIMAGE", "STAMP", "COPY-OF", "BOOTED", "FAILED", "STUB-DIGEST", "REASON", "MESSAGE")}
	for _, r := range list {
		s, result, proof := r.Spec, r.Status.Result, ""
		if o := g.Status.Rollout; result == "" && o != nil && o.Revision == s.Number {
			result = o.Phase // it goes on
		}
		if s.Stamp != nil {
			proof = s.Stamp.Server
		}
		v.Items = append(v.Items, printer.Item{Value: r, Name: "grouprevision/" + r.Metadata.Name, Cells: []string{
			strconv.Itoa(s.Number), printer.Stamp(&s.At), s.By, string(s.Cause), s.Version, imageDigests(s.Images), kinds.StubName(s.Stub), string(result),
			strconv.FormatBool(r.Status.Verified), revisionMarks(g.Status, r), s.BootImage, proof, printer.Number(s.CopyOf),
			strconv.Itoa(r.Status.Booted), strconv.Itoa(r.Status.Failed), kinds.StubDigest(s.Stub), s.Reason, r.Status.Message,
		}})
	}
	return v
}

// revisionMarks say what a revision is to its group.
func revisionMarks(g resource.ServerGroupStatus, r *resource.GroupRevision) string {
	var out []string
	if r.Spec.Number == g.Revision {
		out = append(out, "current")
	}
	if g.Pinned != nil && g.Pinned.Revision == r.Spec.Number {
		out = append(out, "pinned")
	}
	if _, is := g.Rejected[r.Spec.BootImage]; is && r.Spec.BootImage != "" {
		out = append(out, "rejected")
	}
	return strings.Join(out, ",")
}

// imageDigests are the first digits of what is booted, by architecture where there are
// several.
func imageDigests(images map[string]resource.Image) string {
	var out []string
	for _, arch := range slices.Sorted(maps.Keys(images)) {
		digits := printer.ShortDigest(images[arch].Digest)
		if len(images) > 1 {
			digits = arch + "=" + digits
		}
		out = append(out, digits)
	}
	return strings.Join(out, ",")
}
