package site

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

func serverAcceptCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var many manyServers
	var identity string
	cmd := &cobra.Command{
		Use: "accept SERVER... | -l SELECTOR | --rack RACK", Short: "Accept the board and interfaces that servers show now",
		Long: "Accept the board and interfaces that servers show now. After a change the agent powers\n" +
			"nothing on until that was done; see the condition IdentityChanged.\n\n" +
			"Of several servers those that show another identity are listed, with what was and what is,\n" +
			"and are accepted after a yes: each by itself, as it was shown. One that shows a MAC address\n" +
			"or UUID of another server is left out, because its BMC may be that server's: accept it alone.",
		Example: "  rackctl server accept n1\n  rackctl server accept n1 n2 n3\n  rackctl server accept -l row=7 --dry-run\n  rackctl server accept --rack r1 --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == (many.labels != "" || many.rack != "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give either names of servers, or --selector or --rack")
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if len(args) == 1 && !many.dry {
				return acceptOne(cmd.Context(), c, pr, args[0], identity)
			}
			if identity != "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "--identity is of one server")
			}
			return many.accept(cmd.Context(), c, src, pr, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&identity, "identity", "", "the identity to accept of one server (default: the one that is reported now)")
	f.StringVarP(&many.labels, "selector", "l", "", "all with these labels: key=value,key")
	f.StringVar(&many.rack, "rack", "", "all of this rack")
	f.BoolVar(&many.yes, "yes", false, "do not ask, of several")
	f.BoolVar(&many.dry, "dry-run", false, "only list what would be accepted")
	return cmd
}

func acceptOne(ctx context.Context, c *api.Client, pr *printer.Printer, name, identity string) error {
	if identity == "" {
		s, err := api.Get[*resource.Server](ctx, c, name)
		if err != nil {
			return err
		}
		if s.Status.Report == nil || s.Status.Report.Identity == "" {
			return protocol.Errorf(protocol.CodeUnavailable, "accept server", "the agent has not reported what board and interfaces server %q has", name).
				WithHint("wait until its BMC was read; rackctl describe server %s", name)
		}
		identity = s.Status.Report.Identity
	}
	s, err := c.Servers.Accept(ctx, name, api.AcceptServer{Identity: identity})
	if err != nil {
		return err
	}
	pr.Progress("server %s: identity %s accepted", name, identity)
	return pr.Show(kinds.View(resource.KindServer, s))
}

// manyServers are servers that are accepted together.
type manyServers struct {
	labels, rack string
	yes, dry     bool
}

// acceptance is what becomes of one server.
type acceptance struct {
	Server   string                   `json:"server"`
	Identity string                   `json:"identity"`
	Change   *resource.IdentityChange `json:"change"`
	Result   acceptResult             `json:"result"`
	Why      string                   `json:"why,omitempty"`
}

// acceptResult says how an acceptance ended.
type acceptResult string

const (
	acceptWould  acceptResult = "would be accepted"
	acceptDone   acceptResult = "accepted"
	acceptLeft   acceptResult = "left out"
	acceptFailed acceptResult = "not accepted"
)

func (m manyServers) accept(ctx context.Context, c *api.Client, src *files.Input, pr *printer.Printer, names []string) error {
	const op = "accept servers"
	all, err := api.GetAll[*resource.Server](ctx, c)
	if err != nil {
		return err
	}
	chosen, err := m.choose(ctx, c, all, names)
	if err != nil {
		return err
	}
	list := changedOf(all, chosen)
	n := 0
	for _, a := range list {
		if a.Result == acceptWould {
			n++
		}
	}
	if len(list) == 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "none of %s shows another board or interfaces than before", printer.Plural(len(chosen), "server")).
			WithHint("rackctl get servers shows conditions; there is nothing to accept")
	}
	if m.dry {
		return tellAccepted(pr, list)
	}
	pr.Progress("%s", acceptText(list))
	if n == 0 {
		return protocol.Errorf(protocol.CodeConflict, op, "all of %s are left out", printer.Plural(len(list), "server")).
			WithHint("see whose addresses they show; rackctl server accept SERVER accepts one alone")
	}
	if !m.yes {
		if err := src.Confirm(pr.Err, "accept", printer.Plural(n, "server")); err != nil {
			return err
		}
	}
	var failed error
	wrong := 0
	for i := range list {
		a := &list[i]
		if a.Result != acceptWould {
			continue
		}
		a.Result = acceptDone
		if _, err := c.Servers.Accept(ctx, a.Server, api.AcceptServer{Identity: a.Identity}); err != nil {
			a.Result, a.Why = acceptFailed, err.Error()
			failed, wrong = cmp.Or(failed, err), wrong+1
		}
	}
	if err := tellAccepted(pr, list); err != nil || failed == nil {
		return err
	}
	return protocol.Errorf(protocol.CodeOf(failed), op, "%d of %s were not accepted", wrong, printer.Plural(n, "server")).
		WithHint("the others are; the same command again goes on with the rest")
}

// choose returns the servers that are meant. A name that there is not is not_found.
func (m manyServers) choose(ctx context.Context, c *api.Client, all []*resource.Server, names []string) ([]*resource.Server, error) {
	const op = "accept servers"
	sel, err := selector.Parse(m.labels)
	if err != nil {
		return nil, err
	}
	inRack := map[string]bool{} // by BMC
	if m.rack != "" {
		if _, err := api.Get[*resource.Rack](ctx, c, m.rack); err != nil {
			return nil, err
		}
		bmcs, err := api.GetAll[*resource.BMC](ctx, c)
		if err != nil {
			return nil, err
		}
		for _, b := range bmcs {
			inRack[b.Metadata.Name] = b.Spec.RackRef.Name == m.rack
		}
	}
	var out []*resource.Server
	missing := slices.Clone(names)
	for _, s := range all {
		named := slices.Contains(names, s.Metadata.Name)
		missing = slices.DeleteFunc(missing, func(n string) bool { return n == s.Metadata.Name })
		if named || len(names) == 0 && sel.Matches(s.Metadata.Labels) && (m.rack == "" || inRack[s.Spec.BMCRef.Name]) {
			out = append(out, s)
		}
	}
	if len(missing) > 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no server %s", strings.Join(missing, ", ")).WithHint("nothing was accepted; rackctl get servers lists them")
	}
	return out, nil
}

// changedOf are those of the chosen servers that show another identity, by name. One that shows what
// is another's is left out.
func changedOf(all, chosen []*resource.Server) (out []acceptance) {
	own := ownersOf(all)
	for _, s := range chosen {
		r := s.Status.Report
		if r == nil || r.IdentityChange == nil {
			continue
		}
		a := acceptance{Server: s.Metadata.Name, Identity: r.Identity, Change: r.IdentityChange, Result: acceptWould}
		if why := own.another(s.Metadata.Name, *r.IdentityChange); why != "" {
			a.Result, a.Why = acceptLeft, why
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b acceptance) int { return cmp.Compare(a.Server, b.Server) })
	return out
}

// owners are the servers that addresses and UUIDs are of: by their specs, and by what their
// agents trusted before a change.
type owners map[string][]string

func ownersOf(all []*resource.Server) owners {
	o := owners{}
	for _, s := range all {
		has := append([]string{s.Spec.BootMAC, strings.ToLower(s.Spec.UUID)}, s.Spec.MACs...)
		if r := s.Status.Report; r != nil && r.IdentityChange != nil {
			has = append(has, strings.ToLower(r.IdentityChange.Was.UUID))
			has = append(has, r.IdentityChange.Was.MACs...)
		}
		for _, h := range has {
			if h != "" && !slices.Contains(o[h], s.Metadata.Name) {
				o[h] = append(o[h], s.Metadata.Name)
			}
		}
	}
	return o
}

// another says what a server shows that is new at it and is another's; empty is nothing.
func (o owners) another(server string, c resource.IdentityChange) string {
	is := append([]string{strings.ToLower(c.Is.UUID)}, c.Is.MACs...)
	for i, what := range is {
		if what == strings.ToLower(c.Was.UUID) || slices.Contains(c.Was.MACs, what) {
			continue
		}
		for _, other := range o[what] {
			if other != server {
				return fmt.Sprintf("it shows the %s %s of server %s", map[bool]string{true: "UUID", false: "MAC address"}[i == 0], what, other)
			}
		}
	}
	return ""
}

// acceptText lists what servers were known by, and what they show.
func acceptText(list []acceptance) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "server %s, changed since %s, identity %s:\n", a.Server, printer.Stamp(&a.Change.At), a.Identity)
		for _, line := range a.Change.Words() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		if a.Result == acceptLeft {
			fmt.Fprintf(&b, "  left out: %s\n", a.Why)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tellAccepted says what became of each.
func tellAccepted(pr *printer.Printer, list []acceptance) error {
	var names, lines []string
	for _, a := range list {
		line := "server/" + a.Server + " " + string(a.Result)
		if a.Why != "" {
			line += ": " + a.Why
		}
		if a.Result == acceptWould {
			line += ": " + strings.Join(a.Change.Words(), "; ")
		}
		if a.Result == acceptDone || a.Result == acceptWould {
			names = append(names, "server/"+a.Server)
		}
		lines = append(lines, line)
	}
	return pr.Text(list, names, strings.Join(lines, "\n"))
}
