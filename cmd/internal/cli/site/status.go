package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// fleetStatus counts a fleet.
type fleetStatus struct {
	Racks      int                            `json:"racks"`
	Dark       int                            `json:"dark"` // racks whose agent is silent, or that have none
	Servers    int                            `json:"servers"`
	Phases     map[resource.Phase]int         `json:"phases"`
	Power      map[protocol.PowerState]int    `json:"power"`      // Unknown also where the last read is too old
	Conditions map[resource.ConditionCode]int `json:"conditions"` // servers by condition
	Unbound    int                            `json:"unbound"`    // claims without a server
}

func statusCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the whole fleet in one line", Args: cobra.NoArgs,
		Long: "Show the whole fleet in one line: racks and those that are dark, servers by phase and power, claims\n" +
			"without a server, and the conditions that most servers have. Power is Unknown where the last read\n" +
			"is older than three polls.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			racks, err := api.GetAll[*resource.Rack](cmd.Context(), c)
			if err != nil {
				return err
			}
			agents, err := api.GetAll[*resource.Agent](cmd.Context(), c)
			if err != nil {
				return err
			}
			servers, err := api.GetAll[*resource.Server](cmd.Context(), c)
			if err != nil {
				return err
			}
			claims, err := api.GetAll[*resource.Claim](cmd.Context(), c)
			if err != nil {
				return err
			}
			st := countFleet(racks, agents, servers, claims)
			return pr.Text(st, []string{"fleet"}, st.line())
		},
	}
}

func countFleet(racks []*resource.Rack, agents []*resource.Agent, servers []*resource.Server, claims []*resource.Claim) fleetStatus {
	st := fleetStatus{
		Racks: len(racks), Servers: len(servers), Phases: map[resource.Phase]int{}, Power: map[protocol.PowerState]int{}, Conditions: map[resource.ConditionCode]int{},
	}
	heard := map[string]bool{}
	for _, a := range agents {
		heard[a.Metadata.Name] = !slices.ContainsFunc(a.Status.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondDark })
	}
	for _, r := range racks {
		if !heard[r.Status.Agent] {
			st.Dark++
		}
	}
	for _, s := range servers {
		st.Phases[s.Status.Phase]++
		power := protocol.PowerUnknown
		if s.Status.Report != nil && !s.Status.Stale {
			power = s.Status.Report.Observation.Power
		}
		st.Power[power]++
		seen := map[resource.ConditionCode]bool{}
		for _, c := range s.Status.Conditions {
			if !seen[c.Code] {
				st.Conditions[c.Code]++
			}
			seen[c.Code] = true
		}
	}
	for _, c := range claims {
		if c.Status.Server == "" {
			st.Unbound++
		}
	}
	return st
}

// line is the fleet in one line: 3 racks, 1 dark; 40 servers: 38 Reserved, 2 Available; 36 On, 4 Off; 2 Held.
func (st fleetStatus) line() string {
	parts := []string{fmt.Sprintf("%d racks, %d dark", st.Racks, st.Dark)}
	servers := fmt.Sprintf("%d servers", st.Servers)
	if phases := counted(st.Phases); phases != "" {
		servers += ": " + phases
	}
	parts = append(parts, servers)
	for _, more := range []string{counted(st.Power), counted(st.Conditions)} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	if st.Unbound > 0 {
		parts = append(parts, fmt.Sprintf("%d claims without a server", st.Unbound))
	}
	return strings.Join(parts, "; ")
}

// counted is what there is most of first: 38 Reserved, 2 Available.
func counted[T ~string](n map[T]int) string {
	const few = 5
	var keys []T
	for k := range n {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b T) int { return cmp.Or(n[b]-n[a], cmp.Compare(a, b)) })
	var parts []string
	for _, k := range keys[:min(few, len(keys))] {
		parts = append(parts, fmt.Sprintf("%d %s", n[k], cmp.Or(string(k), "unknown")))
	}
	if left := len(keys) - few; left > 0 {
		parts = append(parts, fmt.Sprintf("%d more", left))
	}
	return strings.Join(parts, ", ")
}
