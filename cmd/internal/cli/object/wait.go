package object

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/choice"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func waitCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var until string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait KIND/NAME... --for WHAT", Short: "Wait until resources have come so far",
		Args: cobra.MinimumNArgs(1),
		Long: "Wait until resources have come so far. A claim or a server: provisioned, released, phase=PHASE. Any\n" +
			"resource: condition=CODE (it is there), condition=CODE=false (it is not), delete (it is gone),\n" +
			"jsonpath={.PATH}=VALUE. Conditions that are not shown yet, or that another one explains, count.\n" +
			"What has not come so far in time ends with exit code 7.",
		Example: "  rackctl wait claim/web-1 --for provisioned --timeout 1h\n  rackctl wait server/n1 --for phase=Available\n" +
			"  rackctl wait server/n1 --for condition=BMCUnreachable=false\n  rackctl wait hold/01jd --for jsonpath='{.status.state}'=Fenced",
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := choice.Targets(args)
			if err != nil {
				return err
			}
			goal, err := parseGoal(until)
			if err != nil {
				return err
			}
			for _, w := range wanted {
				switch {
				case len(w.Names) == 0:
					return protocol.Errorf(protocol.CodeInvalid, "", "give a name too: %s NAME", args[0])
				case goal.ofServers && w.Kind != resource.KindClaim && w.Kind != resource.KindServer:
					return protocol.Errorf(protocol.CodeInvalid, "", "--for %s is for a claim or a server", until).WithHint("wait for condition=CODE, delete or jsonpath={.PATH}=VALUE")
				}
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			deadline := time.Now().Add(timeout)
			var names, lines []string
			var reached []map[string]string
			for _, w := range wanted {
				for _, name := range w.Names {
					what := choice.Named(w.Kind, name)
					err := client.Poll(cmd.Context(), max(time.Until(deadline), 0), what, pr.Telling(what), func(ctx context.Context) (string, bool, error) {
						return goal.look(ctx, c, w.Kind, name)
					})
					if err != nil {
						return err
					}
					names, lines, reached = append(names, what), append(lines, what+" "+until), append(reached, map[string]string{"name": what, "reached": until})
				}
			}
			var value any = reached
			if len(reached) == 1 {
				value = reached[0]
			}
			return pr.Text(value, names, strings.Join(lines, "\n"))
		},
	}
	cmd.Flags().StringVar(&until, "for", "", "provisioned, released, phase=PHASE, condition=CODE[=false], delete or jsonpath={.PATH}=VALUE")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Minute, "how long to wait, for all together")
	return cmd
}

// progress is how far a claim or server has come.
type progress struct {
	phase       resource.Phase
	claim       string
	provisioned bool
	text        string
}

func readProgress(ctx context.Context, c *api.Client, kind resource.Kind, name string) (progress, error) {
	var p progress
	server, claimUID, proved := name, "", resource.EvidenceClass("")
	if kind == resource.KindClaim {
		claim, err := api.Get[*resource.Claim](ctx, c, name)
		if err != nil {
			return p, err
		}
		server, claimUID, proved, p.phase = claim.Status.Server, claim.Metadata.UID, claim.Status.EvidenceClass, claim.Status.Phase
		if server == "" {
			p.text = strings.TrimSpace("no server yet " + resource.ConditionCodes(claim.Status.Conditions, time.Now()))
			return p, nil
		}
	}
	srv, err := api.Get[*resource.Server](ctx, c, server)
	if err != nil {
		return p, err
	}
	for _, c := range srv.Status.Conditions {
		if c.Code == resource.CondStoreLost { // neither a phase nor the lack of a claim means anything
			hint, _ := resource.LookupCondition(c.Code)
			return p, protocol.Errorf(protocol.CodeUnavailable, "wait", "what the hub shows of server %s may lack something: %s", server, c.Message).WithHint("%s", hint.Hint)
		}
	}
	if kind == resource.KindServer {
		proved, p.phase = srv.Status.EvidenceClass, srv.Status.Phase
	}
	// An agent reports what it has seen itself. Of a boot before it came, by another agent, at
	// another hub or by somebody's word, the hub has the proof alone.
	p.provisioned = proved != ""
	p.claim = srv.Status.Claim
	p.text = fmt.Sprintf("server %s %s", server, printer.Dash(string(srv.Status.Phase)))
	if r := srv.Status.Report; r != nil {
		// The record counts only for the claim that is waited for.
		p.provisioned = p.provisioned || len(r.Provisioned) > 0 && r.OwnerUID != "" && (claimUID == "" || r.OwnerUID == claimUID)
		p.text += ", power " + string(r.Observation.Power)
		if t := r.Attempt; t != nil {
			p.text += fmt.Sprintf(", attempt %d %s", t.Number, t.State)
		}
	}
	if codes := resource.ConditionCodes(srv.Status.Conditions, time.Now()); codes != "" {
		p.text += ", " + codes
	}
	return p, nil
}
