package group

import (
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// groupWordCmds are the commands that are a word about a group, and change no revision.
func groupWordCmds(hubs *client.Hubs, pr *printer.Printer) []*cobra.Command {
	adopt := groupWordCmd(hubs, pr, api.GroupAdopt, "Give a group with an image of its owner's own to the catalogue",
		"The image that spec.image names is given up for the catalogue's newest, as soon as that\n"+
			"passes all checks. Another one that is put there later is not meant by it.", "adopted")
	ack := groupWordCmd(hubs, pr, api.GroupAck, "Apply to a group again that somebody else changed each time",
		"The condition GroupHotLoop names who that was; end it first, or it comes back.", "acknowledged")

	var pin api.GroupRequest
	pinned := &cobra.Command{
		Use: "pin GROUP --reason REASON", Short: "Keep a group at its current revision", Args: cobra.ExactArgs(1),
		Long: "Keep a group at its current revision: neither the catalogue nor a change of its image makes\n" +
			"another one, until rackctl group unpin. A roll-out that is under way goes on.",
		Example: "  rackctl group pin workers --reason 'change freeze until January'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return groupWord(hubs, pr, cmd, args[0], api.GroupPin, pin, "pinned")
		},
	}
	pinned.Flags().IntVar(&pin.Revision, "revision", 0, "refuse if another one is current")
	reasonFlag(pinned, &pin.Reason)

	var unpin api.GroupRequest
	unpinned := &cobra.Command{
		Use: "unpin GROUP --reason REASON", Short: "Let a group follow its catalogue again", Args: cobra.ExactArgs(1),
		Long: "Let a group follow its catalogue again. Entries that it rejects stay out, which is what it was\n" +
			"reverted from or what failed; --forgive lets those in again too.",
		Example: "  rackctl group unpin workers --reason 'firmware fixed' --forgive",
		RunE: func(cmd *cobra.Command, args []string) error {
			return groupWord(hubs, pr, cmd, args[0], api.GroupUnpin, unpin, "unpinned")
		},
	}
	unpinned.Flags().BoolVar(&unpin.Forgive, "forgive", false, "forget the entries that it rejects")
	reasonFlag(unpinned, &unpin.Reason)
	return []*cobra.Command{adopt, ack, pinned, unpinned}
}

func reasonFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "why; kept in the audit log and the events")
}

func groupWordCmd(hubs *client.Hubs, pr *printer.Printer, action api.GroupAction, short, long, done string) *cobra.Command {
	var r api.GroupRequest
	cmd := &cobra.Command{
		Use: string(action) + " GROUP --reason REASON", Short: short, Args: cobra.ExactArgs(1), Long: short + ". " + long,
		RunE: func(cmd *cobra.Command, args []string) error {
			return groupWord(hubs, pr, cmd, args[0], action, r, done)
		},
	}
	reasonFlag(cmd, &r.Reason)
	return cmd
}

func groupWord(hubs *client.Hubs, pr *printer.Printer, cmd *cobra.Command, name string, action api.GroupAction, r api.GroupRequest, done string) error {
	if err := r.Check(action); err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	out, err := c.Groups.Command(cmd.Context(), name, action, r)
	if err != nil {
		return err
	}
	if out.Unchanged && out.Group != nil {
		return nothingToDo(action, out.Group)
	}
	pr.Progress("group %s: %s", name, done)
	return showGroup(pr, out.Group)
}

// nothingToDo says why a word has changed nothing, which is exit code 4.
func nothingToDo(action api.GroupAction, g *resource.ServerGroup) error {
	name := g.Metadata.Name
	say := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, string(action)+" group", "there is nothing to do: group %q "+format, append([]any{name}, args...)...)
	}
	switch action {
	case api.GroupUnpin:
		if len(g.Status.Rejected) > 0 {
			return say("is not pinned; it rejects %s", strings.Join(printer.SortedNames(g.Status.Rejected), ", ")).
				WithHint("rackctl group unpin %s --forgive lets those in again", name)
		}
		return say("is not pinned, and rejects nothing").WithHint("rackctl describe servergroup %s says what it waits for", name)
	case api.GroupPin:
		if p := g.Status.Pinned; p != nil {
			return say("is pinned to revision %d already, %s", p.Revision, kinds.WordText(p.Confirmation)).WithHint("rackctl group unpin %s ends it", name)
		}
	case api.GroupAdopt:
		return say("was given to the catalogue already").WithHint("rackctl describe servergroup %s says what it waits for", name)
	case api.GroupAck:
		return say("is not held: nobody changes it each time").WithHint("rackctl describe servergroup %s says what it waits for", name)
	case api.GroupRevert:
	}
	return say("is so already")
}

func showGroup(pr *printer.Printer, g *resource.ServerGroup) error {
	if g == nil {
		return protocol.Errorf(protocol.CodeInternal, "group", "the hub's answer has no group")
	}
	return pr.Show(kinds.View(resource.KindServerGroup, g))
}
