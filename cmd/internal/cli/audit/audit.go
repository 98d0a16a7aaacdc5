package audit

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

func auditCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Read, export and verify the hub's audit log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(auditListCmd(hubs, pr), auditExportCmd(hubs, src, pr), auditVerifyCmd(hubs, src, pr))
	return cmd
}

func auditListCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var since string
	q := api.AuditQuery{Limit: api.MaxAuditPage, All: true}
	cmd := &cobra.Command{
		Use: "list", Short: "Show who asked for what, and what came of it, oldest first", Args: cobra.NoArgs,
		Long: `Show who asked for what, and what came of it, oldest first. Of several hubs that share a store
it shows the entries of all, in the order of their times. Each time is of the clock of the hub that
wrote the entry: hubs whose clocks differ by a second may have entries in another order than they
happened in. --hub shows the log of one hub, also of one that is gone.`,
		Example: "  rackctl audit list --since 24h --caller ha\n  rackctl audit list --target Server/n1 -o wide\n  rackctl audit list --hub hub-2 --from 812",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if q.Since, err = sinceTime(since, time.Now()); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			return auditList(cmd.Context(), pr, c, q)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only entries from this time on: 24h, 7d, or 2026-11-20T09:00:00Z")
	cmd.Flags().StringVar(&q.Caller, "caller", "", "only entries of this caller; hub is the hub itself")
	cmd.Flags().StringVar(&q.Target, "target", "", "only entries about this, Kind/name")
	cmd.Flags().Uint64Var(&q.From, "from", 0, "only entries from this number on; of several hubs with --hub")
	cmd.Flags().StringVar(&q.Hub, "hub", "", "only entries of this hub, of those that share a store")
	return cmd
}

// auditList shows the entries as they come; as JSON and YAML they are one list.
func auditList(ctx context.Context, pr *printer.Printer, c *api.Client, q api.AuditQuery) error {
	whole := pr.Form == printer.FormJSON || pr.Form == printer.FormYAML
	var all []protocol.AuditEntry
	for first, shown := true, false; ; first = false {
		list, err := c.Audit.List(ctx, q)
		if err != nil {
			return err
		}
		if q.Hub != "" && len(list.Hubs) == 0 {
			return older(q.Hub)
		}
		for _, b := range list.Broken {
			if first {
				pr.Progress("the log is broken in segment %s: %s", b.Segment, b.Finding)
			}
		}
		last := list.Next > list.Head
		if len(list.Hubs) > 0 {
			last = list.Continue == ""
		}
		all = append(all, list.Items...)
		if (last && !shown) || (!whole && len(all) > 0) {
			v := auditView(all, len(list.Hubs) > 0)
			v.NoHeader = shown
			if err := pr.Show(v); err != nil {
				return err
			}
			all, shown = nil, true
		}
		if last {
			return nil
		}
		q.From, q.Continue = list.Next, list.Continue
		if len(list.Hubs) > 0 {
			q.From = 0
		}
	}
}

// sinceTime reads a time, or how long ago it was. Nothing is the zero time.
func sinceTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, protocol.Errorf(protocol.CodeInvalid, "audit list", "--since %q is no time", s).
		WithHint("give how long ago, such as 90m, 24h or 7d, or a time such as 2026-11-20T09:00:00Z")
}

// auditView shows entries; of several hubs, with the hub that wrote each.
func auditView(entries []protocol.AuditEntry, several bool) printer.View {
	columns := "SEQ TIME CALLER OP TARGET OUTCOME CODE REASON"
	if several {
		columns = "HUB " + columns
	}
	v := printer.View{Columns: printer.Columns(columns, "ROLES", "FROM", "DETAIL", "HASH")}
	for _, e := range entries {
		seq := strconv.FormatUint(e.Seq, 10)
		name := seq
		cells := []string{
			seq, printer.Stamp(&e.At), e.Caller, e.Op, e.Target, string(e.Outcome), string(e.Code), e.Reason,
			strings.Join(e.Roles, ","), e.From, e.Detail, e.Hash,
		}
		if several {
			name, cells = e.Hub+"/"+seq, append([]string{e.Hub}, cells...)
		}
		v.Items = append(v.Items, printer.Item{Value: e, Name: "audit/" + name, Cells: cells})
	}
	return v
}
