package agent

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rackboot/agent/local"
)

func (d *desk) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the running agent: its hub, its documents, what waits", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			s, err := client.Status(c.Context())
			if err != nil {
				return err
			}
			return d.show(s, func(w io.Writer) { statusTable(w, s, time.Now()) })
		},
	}
}

func statusTable(w io.Writer, s local.Status, now time.Time) {
	word := "none since the start"
	if s.Hub.LastWord != nil {
		word = age(*s.Hub.LastWord, now) + " ago"
	}
	row(w, "Agent:", s.Agent)
	row(w, "Rack:", s.Rack)
	row(w, "Version:", s.Version)
	if s.Run != "" {
		row(w, "Run:", s.Run)
	}
	row(w, "Synced:", yes(s.Synced))
	if s.Standby {
		row(w, "Standby:", "yes, another agent serves the rack until a failover")
	}
	if s.Replaced {
		row(w, "Replaced:", "yes, another agent serves the rack")
	}
	if g := s.Guard; g != nil {
		text := "since " + age(g.Since, now) + " ago: " + g.Cause
		if g.Frozen {
			text += "; only what is held is known"
		}
		row(w, "Guard mode:", text)
	}
	row(w, "Hub verified:", yes(s.Hub.Verified))
	row(w, "Hub's last word:", word)
	for _, leaf := range slices.Sorted(maps.Keys(s.Applied)) {
		h := s.Applied[leaf]
		row(w, "Document "+leaf+":", fmt.Sprintf("epoch %d, version %d", h.Epoch, h.Version))
	}
	for _, leaf := range slices.Sorted(maps.Keys(s.Hub.Coming)) {
		h := s.Hub.Coming[leaf]
		row(w, "Still to come "+leaf+":", fmt.Sprintf("epoch %d, version %d", h.Epoch, h.Version))
	}
	row(w, "Events that wait:", strconv.FormatUint(s.Backlog.Waiting, 10))
	row(w, "Servers:", strconv.Itoa(s.Servers))
	row(w, "Holds:", strconv.Itoa(s.Holds))
	if s.OldestRead > 0 {
		row(w, "Oldest recorded read:", s.OldestRead.D().Round(time.Second).String()+" ago")
	}
	if s.Stale > 0 {
		row(w, "Stale:", fmt.Sprintf("%d servers, whose last recorded read is older than three polls", s.Stale))
	}
	conditionLines(w, s.Conditions)
}

// conditionLines are conditions with what to do.
func conditionLines(w io.Writer, all []local.Condition) {
	for _, c := range all {
		title := c.Title
		if c.Message != "" {
			title += ": " + c.Message
		}
		row(w, string(c.Code)+":", title)
		if len(c.ExplainedBy) > 0 {
			row(w, " ", fmt.Sprintf("explained by %v", c.ExplainedBy))
			continue
		}
		row(w, " ", c.Hint)
	}
}
