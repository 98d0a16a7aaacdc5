package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/resource"
)

func (a *app) describeCmd() *cobra.Command {
	return &cobra.Command{
		Use: "describe KIND NAME", Short: "Show one resource with its conditions and what to do", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := oneTarget(args)
			if err != nil {
				return err
			}
			c, _, err := a.client()
			if err != nil {
				return err
			}
			obj, err := c.GetObject(cmd.Context(), kind, name)
			if err != nil {
				return err
			}
			now := time.Now()
			v := objectsView(kind, []resource.Object{obj}, now)
			v.single = true
			text := conditionText(conditionsOf(obj), now)
			if b, ok := obj.(*resource.BMC); ok {
				text = inventoryText(b) + text
			}
			return a.print.describe(v, facts(v, obj), text)
		},
	}
}

// facts are all columns of the wide table, one per line, and what has none.
func facts(v view, obj resource.Object) []fact {
	var out []fact
	for i, col := range v.columns {
		if col.name != "CONDITIONS" {
			out = append(out, fact{strings.ToUpper(col.name[:1]) + strings.ToLower(col.name[1:]), v.items[0].cells[i]})
		}
	}
	m := obj.Head().Metadata
	out = append(out, fact{"Labels", labelsText(m.Labels)}, fact{"Uid", m.UID}, fact{"Generation", fmt.Sprint(m.Generation)},
		fact{"Created", stamp(m.CreatedAt)}, fact{"Deleted", stamp(m.DeletedAt)})
	if b, ok := obj.(*resource.BMC); ok {
		out = append(out, bmcFacts(b)...)
	}
	if b, ok := obj.(*resource.BootImage); ok {
		out = append(out, bootImageFacts(b)...)
	}
	out = append(out, groupKindFacts(obj)...)
	if h, ok := obj.(*resource.Hold); ok {
		out = append(out, holdFacts(h)...)
	}
	if m, ok := obj.(*resource.Maintenance); ok && m.Status.Position > 0 {
		out = append(out, fact{"Position", fmt.Sprint(m.Status.Position)})
	}
	if r, ok := obj.(*resource.Rack); ok {
		out = append(out, fact{"Destructive key", destructiveFact(r.Status.Approvals)})
	}
	if s, ok := obj.(*resource.Server); ok && s.Status.Firmware != nil {
		w := s.Status.Firmware
		out = append(out, fact{"Firmware work", fmt.Sprintf("%s, by %s since %s, until %s", w.Reason, w.By, stamp(&w.Since), stamp(&w.NotAfter))})
	}
	if s, ok := obj.(*resource.Server); ok && s.Status.Report != nil {
		r := s.Status.Report
		out = append(out, fact{"Identity", r.Identity}, fact{"Accepted identity", s.Status.AcceptedIdentity}, fact{"Power epoch", fmt.Sprint(r.PowerEpoch)}, fact{"Last powered on", stamp(r.LastPoweredOn)},
			fact{"Reboot pending since", stamp(r.PendingRebootSince)}, fact{"Read error", r.Observation.Error})
		out = append(out, safetyFacts(s)...)
		if t := r.Attempt; t != nil {
			out = append(out, fact{"Attempt since", stamp(&t.Since)}, fact{"Attempt evidence", string(t.Evidence)},
				fact{"Attempt reason", t.Reason})
			if known, ok := resource.LookupAttempt(t.Code); ok {
				out = append(out, fact{"Attempt code", string(t.Code)}, fact{"Attempt hint", known.Title + ": " + known.Hint})
			}
			out = append(out, fact{"Boot URI", t.URI})
		}
		out = append(out, imageFacts(r.Image)...)
		for _, h := range r.Holds {
			state := string(h.State)
			if state == "" {
				state = string(h.Word)
			}
			out = append(out, fact{"Hold " + h.ID, state})
		}
	}
	if s, ok := obj.(*resource.Server); ok {
		out = append(out, discoveryFacts(s)...)
	}
	// One line per name: a column and a fact may say the same.
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(f fact) bool {
		twice := seen[f.name]
		seen[f.name] = true
		return twice
	})
}

func holdFacts(h *resource.Hold) []fact {
	st := h.Status
	out := []fact{{"Rack", st.Rack}, {"Soft timeout", h.Spec.SoftTimeout.String()}, {"Force during firmware", fmt.Sprint(h.Spec.ForceDuringFirmware)}, {"Expired", stamp(st.ExpiredAt)}}
	if d := st.ConfirmedDown; d != nil {
		out = append(out, fact{"Confirmed down", fmt.Sprintf("by %s at %s: %s", d.By, stamp(&d.At), d.Reason)})
	}
	if st.ReleasedAt != nil {
		out = append(out, fact{"Released", fmt.Sprintf("by %s at %s", st.ReleasedBy, stamp(st.ReleasedAt))}, fact{"Release reason", st.ReleaseReason})
	}
	return out
}

func conditionText(all []resource.ConditionState, now time.Time) string {
	shown := visible(all, now)
	if len(shown) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Conditions:\n")
	for _, s := range shown {
		known, _ := resource.LookupCondition(s.Code)
		fmt.Fprintf(&b, "  %s (%s): %s, since %s\n", s.Code, dash(string(known.Severity)), dash(known.Title), dash(stamp(&s.Since)))
		if s.Message != "" {
			fmt.Fprintf(&b, "    %s\n", s.Message)
		}
		if known.Hint != "" {
			fmt.Fprintf(&b, "    hint: %s\n", known.Hint)
		}
	}
	return b.String()
}
