package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func releaseCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var server, key, reason string
	var several inHub
	cmd := &cobra.Command{
		Use: "release HOLD-ID | --server SERVER --key KEY | -l SELECTOR --key KEY", Short: "Release a hold", Args: cobra.MaximumNArgs(1),
		Long: "Release a hold. Only its owner does, or somebody who may break glass, with a reason\n" +
			"that is recorded. --key means a hold of your own. What was released before stays so: the\n" +
			"command says it, and succeeds.\n\n" +
			"With a selector the hub works it off, as a bulk operation, and goes on when this command ends.",
		Example: "  rackctl release --server n1 --key node/7\n  rackctl release 01jd0000000000000000000000 --break-glass 'its owner is gone'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("break-glass") && strings.TrimSpace(reason) == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--break-glass takes the reason")
			}
			if several.choice.Selects() {
				if len(args) > 0 || server != "" || key == "" {
					return protocol.Errorf(protocol.CodeInvalid, "", "a selector goes with --key, and with nothing else that names a hold")
				}
				return releaseSelected(cmd, hubs, src, pr, &several, key, reason)
			}
			if (len(args) == 1) == (server != "" || key != "") || (server == "") != (key == "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either a hold's id, or --server and --key")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var id string
			if len(args) == 1 {
				id = holdID(args[0])
			} else if id, err = findHold(cmd.Context(), c, server, key, reason != ""); err != nil {
				return err
			}
			hold, text, err := release(cmd.Context(), c, id, reason)
			if err != nil {
				return err
			}
			return pr.Text(hold, []string{"hold/" + id}, text)
		},
	}
	several.flags(cmd)
	cmd.Flags().StringVar(&server, "server", "", "the server that is held")
	cmd.Flags().StringVar(&key, "key", "", "the hold's key")
	cmd.Flags().StringVar(&reason, "break-glass", "", "why you release somebody else's hold")
	return cmd
}

// release releases one hold, and says what that came to.
func release(ctx context.Context, c *api.Client, id, reason string) (*resource.Hold, string, error) {
	before, err := api.Get[*resource.Hold](ctx, c, id)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		before = nil
	} else if err != nil {
		return nil, "", err
	}
	hold, err := c.Holds.Release(ctx, id, api.ReleaseRequest{BreakGlass: reason})
	if err != nil {
		return nil, "", err
	}
	return hold, released(hold, before), nil
}

// releaseSelected releases the holds with a key on servers that a selector means, in the hub. A server that has none is
// said, and is no failure: the same again is what somebody does who was interrupted.
func releaseSelected(cmd *cobra.Command, hubs *client.Hubs, src *files.Input, pr *printer.Printer, several *inHub, key, reason string) error {
	ctx := cmd.Context()
	servers, err := several.servers(cmd, hubs, src, pr, "release", nil)
	if err != nil {
		return err
	}
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	mine, err := readHolds(ctx, c, key)
	if err != nil {
		return err
	}
	meant := map[string]*resource.Hold{} // by server
	wrong := map[string]error{}
	var tried, ids []string
	for _, server := range servers {
		hold, err := mine.on(server, reason != "")
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			pr.Progress("%s", err)
			continue
		case err != nil && !several.KeepsGoing():
			pr.Progress("%s failed, and nothing was released", server)
			return err
		case err != nil:
			wrong[server] = err
		default:
			meant[server], ids = hold, append(ids, hold.Metadata.Name)
		}
		tried = append(tried, server)
	}
	if len(tried) == 0 {
		return protocol.Errorf(protocol.CodeNotFound, "release", "you have no hold with key %q on any of these servers", key).WithHint("rackctl get holds lists them")
	}
	became := func(string) error { return nil }
	if len(ids) > 0 {
		b, known, err := several.ask(ctx, pr, c, api.BulkRequest{Action: api.BulkRelease, Names: ids, Release: &api.ReleaseRequest{BreakGlass: reason}})
		switch {
		case err != nil:
			return err
		case !known:
			return protocol.Errorf(protocol.CodeUnsupported, "release", "the hub is of a version that works nothing off").
				WithHint("give hub and rackctl the same version; release one hold by its id until then")
		case !several.noWait:
			became = outcomes(b)
		default:
			failed := several.Each(pr, tried, func(server string) error { return wrong[server] })
			return errors.Join(several.show(pr, b), failed)
		}
	}
	failed := several.Each(pr, tried, func(server string) error {
		if err := wrong[server]; err != nil {
			return err
		}
		return became(meant[server].Metadata.Name)
	})
	var done []*resource.Hold
	for _, server := range tried {
		if h := meant[server]; h != nil && became(h.Metadata.Name) == nil {
			done = append(done, h)
		}
	}
	if len(done) == 0 {
		return failed
	}
	return errors.Join(showReleased(ctx, pr, c, done), failed)
}

// showReleased shows holds that were released, by what was read of them before.
func showReleased(ctx context.Context, pr *printer.Printer, c *api.Client, before []*resource.Hold) error {
	all, err := api.GetAll[*resource.Hold](ctx, c)
	if err != nil {
		return err
	}
	now := map[string]*resource.Hold{}
	for _, h := range all {
		now[h.Metadata.Name] = h
	}
	holds := make([]*resource.Hold, len(before))
	names, lines := make([]string, len(before)), make([]string, len(before))
	for i, was := range before {
		id := was.Metadata.Name
		h := now[id]
		if h == nil {
			h = was
			if !pr.Tabular() { // it has left the list, as its agent has said so: the same release again reads it
				if h, err = c.Holds.Release(ctx, id, api.ReleaseRequest{}); err != nil {
					return err
				}
			}
		}
		holds[i], names[i], lines[i] = h, "hold/"+id, released(h, was)
	}
	return pr.Text(holds, names, strings.Join(lines, "\n"))
}

// holdID is an id as somebody names it: by itself, or as -o name prints it.
func holdID(name string) string { return strings.TrimPrefix(name, "hold/") }

// released says that a hold is, and by whom where somebody was faster: before is what was read of it
// before, nil where it had left the hub.
func released(h, before *resource.Hold) string {
	text := fmt.Sprintf("hold/%s on server %s released", h.Metadata.Name, h.Spec.Server)
	if before != nil && before.Status.ReleasedAt == nil {
		return text
	}
	return text + fmt.Sprintf(" already, %s by %s", printer.Stamp(h.Status.ReleasedAt), h.Status.ReleasedBy)
}

// findHold is the caller's hold on a server. Those of others are only meant by somebody who breaks glass.
func findHold(ctx context.Context, c *api.Client, server, key string, breaks bool) (string, error) {
	h, err := readHolds(ctx, c, key)
	if err != nil {
		return "", err
	}
	hold, err := h.on(server, breaks)
	if err != nil {
		return "", err
	}
	return hold.Metadata.Name, nil
}

// keyed are the holds with a key, by server, and who asks for them.
type keyed struct {
	me, key string
	holds   map[string][]*resource.Hold
}

func readHolds(ctx context.Context, c *api.Client, key string) (k keyed, err error) {
	me, err := c.Whoami(ctx)
	if err != nil {
		return k, err
	}
	all, err := api.GetAll[*resource.Hold](ctx, c)
	if err != nil {
		return k, err
	}
	return keyedBy(me.Name, key, all), nil
}

func keyedBy(me, key string, all []*resource.Hold) keyed {
	k := keyed{me, key, map[string][]*resource.Hold{}}
	for _, h := range all {
		if h.Spec.Key == key {
			k.holds[h.Spec.Server] = append(k.holds[h.Spec.Server], h)
		}
	}
	return k
}

// on is the caller's hold on a server, also one that was released; that of another only where breaks says so, and only
// if there is one. The codes are not_found, conflict and denied.
func (k keyed) on(server string, breaks bool) (*resource.Hold, error) {
	var own *resource.Hold
	var others []*resource.Hold
	var ids []string
	for _, h := range k.holds[server] {
		switch {
		case h.Spec.Owner == k.me && (own == nil || own.Status.ReleasedAt != nil): // one that still lies is meant first
			own = h
		case h.Spec.Owner == k.me:
		case h.Status.ReleasedAt == nil:
			others, ids = append(others, h), append(ids, h.Metadata.Name)
		}
	}
	switch {
	case own != nil:
		return own, nil
	case len(others) == 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, "release", "you have no hold on server %q with key %q", server, k.key).
			WithHint("rackctl get holds lists them; nothing is left to do for one that was released and whose agent has said so")
	case breaks && len(others) == 1:
		return others[0], nil
	case breaks:
		return nil, protocol.Errorf(protocol.CodeConflict, "release", "several callers hold server %q with key %q: %s", server, k.key, strings.Join(ids, ", ")).
			WithHint("release one by its id")
	}
	return nil, protocol.Errorf(protocol.CodeDenied, "release", "you have no hold on server %q with key %q; others have: %s", server, k.key, strings.Join(ids, ", ")).
		WithHint("its owner releases it; rackctl release HOLD-ID --break-glass REASON does it for somebody else, and is recorded")
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
			return pr.Show(kinds.View(resource.KindHold, hold))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "how you know that it is down")
	return cmd
}
