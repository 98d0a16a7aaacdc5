package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

func (a *app) auditCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Read, export and verify the hub's audit log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.auditListCmd(), a.auditExportCmd(), a.auditVerifyCmd())
	return cmd
}

func (a *app) auditListCmd() *cobra.Command {
	var since string
	q := api.AuditQuery{Limit: api.MaxAuditPage}
	cmd := &cobra.Command{
		Use: "list", Short: "Show who asked for what, and what came of it, oldest first", Args: cobra.NoArgs,
		Example: "  rackctl audit list --since 24h --caller ha\n  rackctl audit list --target Server/n1 -o wide",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if q.Since, err = sinceTime(since, time.Now()); err != nil {
				return err
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			return a.auditList(cmd.Context(), c, q)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only entries from this time on: 24h, 7d, or 2026-11-20T09:00:00Z")
	cmd.Flags().StringVar(&q.Caller, "caller", "", "only entries of this caller; hub is the hub itself")
	cmd.Flags().StringVar(&q.Target, "target", "", "only entries about this, Kind/name")
	cmd.Flags().Uint64Var(&q.From, "from", 0, "only entries from this number on")
	return cmd
}

// auditList shows the entries as they come; as JSON and YAML they are one list.
func (a *app) auditList(ctx context.Context, c *api.Client, q api.AuditQuery) error {
	whole := a.print.form == formJSON || a.print.form == formYAML
	var all []protocol.AuditEntry
	for first, shown := true, false; ; first = false {
		list, err := c.Audit(ctx, q)
		if err != nil {
			return err
		}
		for _, b := range list.Broken {
			if first {
				a.progress("the log is broken in segment %s: %s", b.Segment, b.Finding)
			}
		}
		last := list.Next > list.Head
		all = append(all, list.Items...)
		if (last && !shown) || (!whole && len(all) > 0) {
			v := auditView(all)
			v.noHeader = shown
			if err := a.print.show(v); err != nil {
				return err
			}
			all, shown = nil, true
		}
		if last {
			return nil
		}
		q.From = list.Next
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

func auditView(entries []protocol.AuditEntry) view {
	v := view{columns: []column{
		{name: "SEQ"},
		{name: "TIME"},
		{name: "CALLER"},
		{name: "OP"},
		{name: "TARGET"},
		{name: "OUTCOME"},
		{name: "CODE"},
		{name: "REASON"},
		{name: "ROLES", wide: true},
		{name: "FROM", wide: true},
		{name: "DETAIL", wide: true},
		{name: "HASH", wide: true},
	}}
	for _, e := range entries {
		seq := strconv.FormatUint(e.Seq, 10)
		v.items = append(v.items, item{
			value: e, name: "audit/" + seq,
			cells: []string{
				seq, stamp(&e.At), e.Caller, e.Op, e.Target, string(e.Outcome), string(e.Code), e.Reason,
				strings.Join(e.Roles, ","), e.From, e.Detail, e.Hash,
			},
		})
	}
	return v
}
