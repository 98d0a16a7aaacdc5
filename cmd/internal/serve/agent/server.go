package agent

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func (d *desk) serversCmd() *cobra.Command {
	return &cobra.Command{
		Use: "servers", Short: "List the servers that the running agent knows", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			all, err := client.Servers(c.Context())
			if err != nil {
				return err
			}
			return d.show(local.List[local.Summary]{Items: all}, func(w io.Writer) {
				row(w, "NAME", "PHASE", "POWER", "ATTEMPT", "HOLDS", "CONDITIONS", "READ")
				for _, s := range all {
					row(w, s.Server, string(s.Phase), string(s.Observation.Power), attempt(s.Attempt), strconv.Itoa(lying(s.Holds)),
						codes(s.Conditions), readCell(&s.Observation.ReadAt, s.Stale))
				}
			})
		},
	}
}

func attempt(a *resource.AttemptReport) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s#%d", a.State, a.Number)
}

// lying counts the holds that were not released.
func lying(all []resource.HoldReport) (n int) {
	for _, h := range all {
		if h.Word != resource.HoldReleased {
			n++
		}
	}
	return n
}

func (d *desk) explainCmd() *cobra.Command {
	return &cobra.Command{
		Use: "explain SERVER", Short: "Show why a server is where it is, and what it waits for", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			s, err := client.Server(c.Context(), args[0])
			if err != nil {
				return err
			}
			return d.show(s, func(w io.Writer) { explainTable(w, s, time.Now()) })
		},
	}
}

func explainTable(w io.Writer, s local.Server, now time.Time) {
	row(w, "Server:", s.Name)
	row(w, "Phase:", string(s.Phase))
	row(w, "Power:", power(s.Report.Observation, now))
	if s.Missing {
		row(w, "Missing:", "the hub's newest document leaves it out")
	}
	if s.Intent != nil {
		row(w, "Claim:", s.Intent.Owner.Name)
		row(w, "Wanted power:", string(s.Intent.Power))
		row(w, "BMC:", s.Intent.BMC.Address)
	}
	if a := s.Report.Attempt; a != nil {
		row(w, "Boot:", fmt.Sprintf("%s, %s %s", attempt(a), a.Intended, a.Reason))
	}
	if u := s.Report.Unexpected; u != nil {
		row(w, "Unexpected:", fmt.Sprintf("%s at %s, shown by %s; %s %s", u.To, u.At.UTC().Format(time.RFC3339), u.By, u.Stands, u.Why))
	}
	for _, h := range s.Holds {
		row(w, "Hold:", holdLine(h))
	}
	if g := s.Guard; g != nil {
		row(w, "In guard mode:", guardedText(*g, now))
	}
	row(w, "Next:", s.Explain.Text)
	conditionLines(w, s.Explain.Conditions)
}

// guardedText is what happened to a server in guard mode.
func guardedText(g local.Guarded, now time.Time) string {
	text := "since " + age(g.Since, now) + " ago"
	if g.RanAt != nil {
		text += ", read running " + age(*g.RanAt, now) + " ago"
	}
	if g.Times > 0 && g.Forced != nil {
		text += fmt.Sprintf(", forced off %d times, last %s ago", g.Times, age(*g.Forced, now))
	}
	return text + ", longest without a read " + g.Unread.D().Round(time.Second).String()
}

// holdLine is a hold in words.
func holdLine(h local.Hold) string {
	if h.Released != nil {
		return fmt.Sprintf("%s was released here by %s; the hub has not heard of it", h.ID, h.Released.By)
	}
	parts := []string{fmt.Sprintf("%s, key %s by %s: %s", h.ID, h.Key, h.Owner, stateOf(h)), staleText(h), h.Message, h.Reason}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// staleText says that what is known of a held server is old.
func staleText(h local.Hold) string {
	if !h.Stale {
		return ""
	}
	return "its last recorded read is older than three polls"
}

// power is what was read, and when.
func power(o protocol.Observation, now time.Time) string {
	if o.ReadAt.IsZero() {
		return "not read since the start"
	}
	return fmt.Sprintf("%s, read %s ago", o.Power, age(o.ReadAt, now))
}
