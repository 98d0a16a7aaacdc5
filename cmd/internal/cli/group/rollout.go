package group

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func rolloutCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rollout", Short: "See how a group's new revision reaches its servers, and steer it; steer upgrades of agents", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		rolloutStatusCmd(hubs, src, pr),
		rolloutWordCmd(hubs, pr, api.RolloutPause, "Begin nothing more", "What is on its way goes on, and is followed.", "paused"),
		rolloutWordCmd(hubs, pr, api.RolloutResume, "Go on, and try again what has failed", "Of a complete roll-out it tries those again that came late and have failed.", "resumed"),
		rolloutWordCmd(hubs, pr, api.RolloutAbort, "End a roll-out as it is", "No server is returned: rackctl group revert does that.", "aborted"),
		rolloutWordCmd(hubs, pr, api.RolloutNext, "Begin the next wave without waiting for the rest of this one",
			"The rest is followed all the same. It is refused at the canaries of an entry that none has\nproved, and in the last wave.", "the next wave begins"),
	)
	return cmd
}

func rolloutWordCmd(hubs *client.Hubs, pr *printer.Printer, command api.RolloutCommand, short, long, done string) *cobra.Command {
	r := api.RolloutRequest{Command: command}
	cmd := &cobra.Command{
		Use: string(command) + " GROUP|agentupgrade/NAME --reason REASON", Short: short, Args: cobra.ExactArgs(1), Long: short + ". " + long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if name, ok := upgradeNamed(args[0]); ok {
				u, err := c.Rollouts.CommandUpgrade(cmd.Context(), name, r)
				if err != nil {
					return err
				}
				pr.Progress("roll-out of agentupgrade/%s: %s", name, done)
				return pr.Show(kinds.View(resource.KindAgentUpgrade, u))
			}
			out, err := c.Rollouts.Command(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			pr.Progress("roll-out of group %s: %s%s", args[0], done, stillWaits(command, out.Group))
			return showGroup(pr, out.Group)
		},
	}
	reasonFlag(cmd, &r.Reason)
	return cmd
}

// upgradeNamed is the name of an upgrade of agents, if it is one that is meant: agentupgrade/NAME.
func upgradeNamed(arg string) (name string, ok bool) {
	kind, name, ok := strings.Cut(arg, "/")
	return name, ok && strings.TrimSuffix(strings.ToLower(kind), "s") == "agentupgrade"
}

// stillWaits says what keeps the servers of the next wave from being begun, if something does. The command is not
// stopped by it: they are begun once it has ended.
func stillWaits(command api.RolloutCommand, g *resource.ServerGroup) string {
	if command != api.RolloutNext || g == nil || g.Status.Rollout == nil || g.Status.Rollout.Reason == "" {
		return ""
	}
	return ", once this has ended: " + g.Status.Rollout.Reason
}

func rolloutStatusCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var w rolloutWatch
	var watch bool
	cmd := &cobra.Command{
		Use: "status GROUP", Short: "Show how far a group's roll-out is, and what to do", Args: cobra.ExactArgs(1),
		Long: "Show how far a group's roll-out is: its phase with the reason, how many servers are done,\n" +
			"soaking, begun, failed and waiting, each wave, the servers that failed or wait with why, and\n" +
			"what to do. With --watch it goes on until the roll-out has ended or is paused.\n\n" +
			"Exit codes with --watch:\n" +
			"   0  completed\n" +
			"   7  it goes on: --timeout is over, or the command was interrupted\n" +
			"  10  paused, by somebody or because servers failed\n" +
			"  11  failed\n" +
			"  12  rolled back to the revision before\n" +
			"  13  aborted\n" +
			"  14  superseded by a newer revision\n" +
			"   2 to 8 as with any command: there is no such group or roll-out, or the hub was not asked",
		Example: "  rackctl rollout status workers\n  rackctl rollout status workers --watch --revision 7 && echo rolled out",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case w.revision < 0:
				return protocol.Errorf(protocol.CodeInvalid, "", "--revision %d is not a number from 1", w.revision)
			case !watch && (cmd.Flags().Changed("timeout") || cmd.Flags().Changed("revision")):
				return protocol.Errorf(protocol.CodeInvalid, "", "--timeout and --revision are for --watch")
			}
			if name, ok := upgradeNamed(args[0]); ok {
				return protocol.Errorf(protocol.CodeUnsupported, "", "status is of groups").
					WithHint("rackctl describe agentupgrade %s shows how far it is, and rackctl get agentupgrades -w follows it", name)
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if watch {
				w.group, w.block = args[0], liveBlock(src, pr)
				return watchRollout(cmd.Context(), pr, c, w)
			}
			g, err := api.Get[*resource.ServerGroup](cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if g.Status.Rollout == nil {
				return noRollout(g)
			}
			r := rolloutReportOf(g)
			r.ask(cmd.Context(), c)
			return showRollout(pr, r)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&watch, "watch", "w", false, "go on until it has ended or is paused; the exit code says how")
	f.IntVar(&w.revision, "revision", 0, "with --watch: the roll-out of this revision, also one that has not begun yet (default: the one that there is)")
	f.DurationVar(&w.timeout, "timeout", 24*time.Hour, "with --watch: how long")
	return cmd
}

func noRollout(g *resource.ServerGroup) error {
	return protocol.Errorf(protocol.CodeNotFound, "rollout", "group %q has had no roll-out", g.Metadata.Name).
		WithHint("it begins with the group's next revision; rackctl describe servergroup %s says what that waits for", g.Metadata.Name)
}

// showRollout prints a roll-out whole.
func showRollout(pr *printer.Printer, r rolloutReport) error {
	columns, _ := terminal.Size(pr.Out)
	return pr.Text(r, []string{"servergroup/" + r.Group}, rolloutText(r, time.Now(), pr.Form == printer.FormWide, columns))
}
