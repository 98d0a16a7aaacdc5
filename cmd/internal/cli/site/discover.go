package site

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

// beginsIn is how long a discovery may take to begin before it is said why it has not.
const beginsIn = 10 * time.Second

func serverDiscoverCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "discover SERVER", Short: "Discover a server again", Args: cobra.ExactArgs(1),
		Long: "Discover a server again: boot it into the image of its rack's spec.discovery, which reports\n" +
			"what is in it. That is done by itself for a server that was never discovered. It ends the\n" +
			"condition DiscoveryFailed. Nobody may own the server: it is refused while the server has a\n" +
			"claim or a maintenance, and no claim gets it before it was discovered.\n" +
			"\n" +
			"It waits ten seconds for the boot to begin. What keeps it from that is an error, and what was\n" +
			"asked for stays.",
		Example: "  rackctl server discover n1\n  rackctl server discover n1 --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			was, err := api.Get[*resource.Server](cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if _, err := c.Servers.Discover(cmd.Context(), args[0]); err != nil {
				return err
			}
			pr.Progress("server %s: a discovery was asked for", args[0])
			s, err := followDiscovery(cmd.Context(), pr, c, was, wait, timeout)
			if err != nil {
				return err
			}
			return pr.Show(kinds.View(resource.KindServer, s))
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it was discovered")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Minute, "how long to wait")
	return cmd
}

// followDiscovery waits until the discovery of a server has ended, or without wait at least begun. One that
// has not, and of which nothing says why, is told of and no error: its agent may be away.
func followDiscovery(ctx context.Context, pr *printer.Printer, c *api.Client, was *resource.Server, wait bool, timeout time.Duration) (s *resource.Server, err error) {
	name, until, within, tell := was.Metadata.Name, discoveryBegun, min(timeout, beginsIn), func(string) {}
	if wait {
		until, within, tell = discoveryDone, timeout, pr.Telling("server/"+name)
	}
	err = client.Poll(ctx, within, "server/"+name, tell, func(ctx context.Context) (string, bool, error) {
		if s, err = api.Get[*resource.Server](ctx, c, name); err != nil {
			return "", false, err
		}
		at := discoveryStage(was, s)
		if at == discoveryGivenUp {
			return "", false, protocol.Errorf(protocol.CodeConflict, "discover", "server %s: given up: %s", name, printer.Dash(s.Status.Discovery.Reason)).
				WithHint("look at the server's console; rackctl trace %s", name)
		}
		return string(at), at == until || at == discoveryDone, nil
	})
	if wait || protocol.CodeOf(err) != protocol.CodeTimeout || ctx.Err() != nil {
		return s, err
	}
	if codes := resource.ConditionCodes(s.Status.Conditions, time.Now()); codes != "" {
		return s, protocol.Errorf(protocol.CodeConflict, "discover", "server %s: asked for, and not begun: %s", name, codes).
			WithHint("it begins when that is over; rackctl describe server %s says what to do", name)
	}
	pr.Progress("server %s: it has not begun yet; rackctl describe server %s shows when it does", name, name)
	return s, nil
}

// discovering is how far a discovery that was asked for is.
type discovering string

const (
	discoveryAsked   discovering = "asked for"
	discoveryBegun   discovering = "under way" // its boot was begun
	discoveryGivenUp discovering = "given up"
	discoveryDone    discovering = "done"
)

// discoveryStage compares a server with what it was before the discovery was asked for.
//
//	another inventory, nothing asked  done
//	given up                          given up
//	another boot than before          under way
//	else                              asked for
func discoveryStage(was, is *resource.Server) discovering {
	inventory := func(s *resource.Server) (uid string) {
		if d := s.Status.Discovered; d != nil {
			uid = d.UID
		}
		return uid
	}
	boot := func(s *resource.Server) (id string) {
		if r := s.Status.Report; r != nil && r.Attempt != nil {
			id = r.Attempt.ID
		}
		return id
	}
	d := is.Status.Discovery
	switch {
	case d == nil && inventory(is) != "" && inventory(is) != inventory(was):
		return discoveryDone
	case d != nil && d.FailedAt != nil:
		return discoveryGivenUp
	case boot(is) != "" && boot(is) != boot(was):
		return discoveryBegun
	}
	return discoveryAsked
}
