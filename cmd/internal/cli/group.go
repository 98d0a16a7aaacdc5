package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// groupPrefix begins what a claim boots whose image is a group's, where it is shown.
const groupPrefix = "group:"

func (a *app) groupCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "group", Short: "See what groups of servers have booted, return to it, and keep it", Args: cobra.NoArgs,
		Long: "See what groups of servers have booted, return to it, and keep it. What a group's servers boot is\n" +
			"a revision: image and user data as one, numbered, made by the hub, and never changed afterwards.\n" +
			"rackctl rollout shows how a revision reaches the servers.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.groupListCmd(), a.groupHistoryCmd(), a.groupDiffCmd(), a.groupRevertCmd())
	cmd.AddCommand(a.groupWordCmds()...)
	return cmd
}

func (a *app) groupListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List groups with their revisions and roll-outs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			objs, err := readObjects(cmd.Context(), c, resource.KindServerGroup, "", nil)
			if err != nil {
				return err
			}
			if len(objs) == 0 && (a.print.form == formTable || a.print.form == formWide) {
				a.progress("no %s", resource.KindServerGroup.Plural())
				return nil
			}
			return a.print.show(objectsView(resource.KindServerGroup, objs, time.Now()))
		},
	}
}

func (a *app) groupHistoryCmd() *cobra.Command {
	return &cobra.Command{
		Use: "history GROUP", Short: "List a group's revisions, oldest first", Args: cobra.ExactArgs(1),
		Long: "List a group's revisions, oldest first: who or what made each, why, what it boots, and how it\n" +
			"went. MARKS says which is current, which the group is pinned to, and whose entry of the\n" +
			"catalogue is rejected. How many are kept is spec.historyLimit of the group.",
		Example: "  rackctl group history workers -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
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
			if len(list) == 0 && (a.print.form == formTable || a.print.form == formWide) {
				a.progress("group %s has no revision yet", g.Metadata.Name)
				return nil
			}
			return a.print.show(historyView(g, list))
		},
	}
}

// groupHistory are the revisions of a group, and of none before it with the same name.
func groupHistory(ctx context.Context, c *api.Client, g *resource.ServerGroup) (out []*resource.GroupRevision, err error) {
	all, err := c.ListObjects(ctx, resource.KindGroupRevision)
	for _, o := range all {
		if r, ok := o.(*resource.GroupRevision); ok && r.Spec.Group == g.Metadata.Name && r.Spec.GroupUID == g.Metadata.UID {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *resource.GroupRevision) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
	return out, err
}

func historyView(g *resource.ServerGroup, list []*resource.GroupRevision) view {
	v := view{columns: columns("REVISION AT BY CAUSE VERSION DIGEST STUB RESULT VERIFIED MARKS", "BOOTIMAGE", "STAMP", "COPY-OF", "BOOTED", "FAILED", "REASON", "MESSAGE")}
	for _, r := range list {
		s, result, proof := r.Spec, r.Status.Result, ""
		if o := g.Status.Rollout; result == "" && o != nil && o.Revision == s.Number {
			result = o.Phase // it goes on
		}
		if s.Stamp != nil {
			proof = s.Stamp.Server
		}
		v.items = append(v.items, item{value: r, name: "grouprevision/" + r.Metadata.Name, cells: []string{
			strconv.Itoa(s.Number), stamp(&s.At), s.By, string(s.Cause), s.Version, imageDigests(s.Images), stubName(s.Stub), string(result),
			strconv.FormatBool(r.Status.Verified), revisionMarks(g.Status, r), s.BootImage, proof, number(s.CopyOf),
			strconv.Itoa(r.Status.Booted), strconv.Itoa(r.Status.Failed), s.Reason, r.Status.Message,
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
		digits := shortDigest(images[arch].Digest)
		if len(images) > 1 {
			digits = arch + "=" + digits
		}
		out = append(out, digits)
	}
	return strings.Join(out, ",")
}

func stubName(r *resource.IgnitionRef) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", r.Secret, r.Version)
}
