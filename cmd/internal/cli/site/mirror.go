package site

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func mirrorCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mirror", Short: "Show and flush what racks have cached of package repositories", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(mirrorStatusCmd(hubs, pr), mirrorFlushCmd(hubs, pr))
	return cmd
}

// mirrorsAtOnce is how many racks are asked at once.
const mirrorsAtOnce = 16

func mirrorStatusCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "status [RACK]", Short: "Show what a rack, or each, has cached, how fresh it is, and whether its repositories answer", Args: cobra.MaximumNArgs(1),
		Long: "Show what a rack, or each, has cached of each repository of its agent's file, how fresh that is, and\n" +
			"whether the repository answers. The hub asks the agents, which ask no repository for it.\n\n" +
			"FRESH objects are given without asking, the others are compared first. VALIDATED is how long ago\n" +
			"the repository said last of one that it is what it has, REACHED its last answer, LAST-ERROR its last\n" +
			"failure. SERVED came from the cache, MISSED were fetched, both since the agent's start. BACKED-OFF is\n" +
			"until when it is not asked for what is cached. -o wide has more.\n\n" +
			"A rack that does not answer within 10 seconds is said, and the exit code is 6. At its host:\n" +
			"rackboot-agent mirror.",
		Example: "  rackctl mirror status\n  rackctl mirror status r1 -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				s, err := c.Agents.Mirror(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return showMirrors(pr, true, s)
			}
			all, silent, err := mirrors(cmd.Context(), pr, c)
			if err != nil {
				return err
			}
			if err := showMirrors(pr, false, all...); err != nil {
				return err
			}
			if silent > 0 {
				return protocol.Errorf(protocol.CodeUnavailable, "mirror status", "%s did not answer", printer.Plural(silent, "rack")).
					WithHint("rackctl get agents; at a rack's host: rackboot-agent mirror")
			}
			return nil
		},
	}
}

// mirrors asks all racks that have an agent, some at once.
func mirrors(ctx context.Context, pr *printer.Printer, c *api.Client) (all []resource.MirrorStatus, silent int, err error) {
	listed, err := c.Objects.List(ctx, resource.KindRack)
	if err != nil {
		return nil, 0, err
	}
	var racks []*resource.Rack
	for _, obj := range listed {
		switch r, is := obj.(*resource.Rack); {
		case is && r.Status.Agent == "":
			pr.Progress("rack %s has no agent", r.Metadata.Name)
		case is:
			racks = append(racks, r)
		}
	}
	got, errs := make([]resource.MirrorStatus, len(racks)), make([]error, len(racks))
	places := make(chan struct{}, mirrorsAtOnce)
	var wg sync.WaitGroup
	for i, r := range racks {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			got[i], errs[i] = c.Agents.Mirror(ctx, r.Metadata.Name)
		})
	}
	wg.Wait()
	for i, r := range racks {
		if errs[i] != nil {
			pr.Progress("rack %s: %s", r.Metadata.Name, errs[i])
			silent++
			continue
		}
		all = append(all, got[i])
	}
	return all, silent, ctx.Err()
}

func showMirrors(pr *printer.Printer, single bool, all ...resource.MirrorStatus) error {
	if !pr.Tabular() {
		v := printer.View{Single: single}
		for _, s := range all {
			v.Items = append(v.Items, printer.Item{Value: s, Name: "mirror/" + s.Rack})
		}
		return pr.Show(v)
	}
	v := printer.View{Columns: printer.Columns("RACK REPOSITORY OBJECTS SIZE FRESH VALIDATED ANSWERS REACHED LAST-ERROR SERVED MISSED BACKED-OFF", "OLDEST", "STALE", "ABSENT", "ERRORS", "WHY")}
	for _, s := range all {
		for _, r := range s.Repositories {
			v.Items = append(v.Items, printer.Item{Cells: mirrorCells(s, r)})
		}
		switch {
		case len(s.Repositories) == 0:
			pr.Progress("rack %s reads from no repository: repositories.bases in its agent's file", s.Rack)
			continue
		case s.Left > 0:
			pr.Progress("rack %s has %d more repositories than one answer has room for", s.Rack, s.Left)
		}
		pr.Progress("rack %s: %s of %s are used, %s of it for environments", s.Rack, printer.Mebibytes(s.Used), printer.Mebibytes(s.Quota), printer.Mebibytes(s.Pinned))
	}
	if len(v.Items) == 0 {
		return nil
	}
	return pr.Table(v)
}

// mirrorCells are a line of the table. Ages are by the agent's clock alone.
func mirrorCells(s resource.MirrorStatus, r resource.MirrorRepository) []string {
	failed := ""
	if r.Failed != nil {
		failed = fmt.Sprintf("%s %s ago", r.Code, printer.Age(r.Failed, s.At))
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		s.Rack, r.URL, strconv.Itoa(r.Objects), printer.Mebibytes(r.Bytes), strconv.Itoa(r.Fresh), printer.Age(r.Validated, s.At),
		string(r.Answers), printer.Age(r.Reached, s.At), failed, count(r.Served), count(r.Missed), printer.Stamp(r.BackedOff),
		printer.Age(r.Oldest, s.At), count(r.Stale), count(r.Absent), count(r.Errors), r.Why,
	}
}

func mirrorFlushCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var req api.FlushRequest
	cmd := &cobra.Command{
		Use: "flush RACK [REPOSITORY|PATH]", Short: "Drop what a rack has cached of package repositories", Args: cobra.RangeArgs(1, 2),
		Long: "Drop what a rack has cached: all, or what is at a URL, or at a path of any repository's host, and\n" +
			"below it. It is fetched anew when somebody wants it. Boots under way go on: what an environment\n" +
			"begins with stays pinned, and who reads a file reads it to its end. Repeating it is safe.\n\n" +
			"While a repository of which something would go does not answer, nothing is dropped (exit code 4),\n" +
			"as boots would have nothing of it. --force drops it all the same.\n\n" +
			"A rack that is away is not flushed later (exit code 6). After a timeout (7) nobody knows: ask again.",
		Example: "  rackctl mirror flush r1 https://deb.example/debian --reason 'index was signed with the wrong key'\n" +
			"  rackctl mirror flush r1 /debian/dists/bookworm\n  rackctl mirror flush r1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				if req.What = args[1]; strings.Trim(req.What, "/") == "" {
					return protocol.Errorf(protocol.CodeInvalid, "mirror flush", "%q names nothing", req.What).WithHint("leave it out to drop all")
				}
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Agents.Flush(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("rack %s dropped %s, %s", out.Rack, printer.Plural(out.Objects, "object"), printer.Mebibytes(out.Bytes))
			if out.Kept > 0 {
				text += fmt.Sprintf("; %d of them, %s, stay on its disk while environments or readers need them", out.Kept, printer.Mebibytes(out.KeptBytes))
			}
			return pr.Text(out, []string{"mirror/" + out.Rack}, text)
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "drop it also while a repository does not answer")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for the audit log")
	return cmd
}
