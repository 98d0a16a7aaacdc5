package object

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/condition"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func waitCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var until string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait claim/NAME|server/NAME --for provisioned|released|phase=PHASE", Short: "Wait until a claim or server has come so far",
		Args:    cobra.RangeArgs(1, 2),
		Example: "  rackctl wait claim/web-1 --for provisioned --timeout 1h\n  rackctl wait server/n1 --for phase=Available",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := oneTarget(args)
			if err != nil {
				return err
			}
			if kind != resource.KindClaim && kind != resource.KindServer {
				return protocol.Errorf(protocol.CodeInvalid, "", "wait is for a claim or a server")
			}
			phase, isPhase := strings.CutPrefix(until, "phase=")
			if !isPhase && until != "provisioned" && until != "released" || isPhase && !slices.Contains(resource.Phases(), resource.Phase(phase)) {
				return protocol.Errorf(protocol.CodeInvalid, "", "--for %q is not one of provisioned, released, phase=PHASE", until).
					WithHint("the phases are %s", printer.Join(resource.Phases()))
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			what := strings.ToLower(string(kind)) + "/" + name
			err = client.Poll(cmd.Context(), timeout, what, pr.Telling(what), func(ctx context.Context) (string, bool, error) {
				p, err := readProgress(ctx, c, kind, name)
				if kind == resource.KindClaim && until == "released" && protocol.CodeOf(err) == protocol.CodeNotFound {
					return "", true, nil
				}
				if err != nil {
					return "", false, err
				}
				switch until {
				case "provisioned":
					return p.text, p.provisioned, nil
				case "released":
					return p.text, kind == resource.KindServer && p.claim == "", nil
				}
				return p.text, string(p.phase) == phase, nil
			})
			if err != nil {
				return err
			}
			return pr.Text(map[string]string{"name": what, "reached": until}, []string{what}, what+" "+until)
		},
	}
	cmd.Flags().StringVar(&until, "for", "", "provisioned, released or phase=PHASE")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Minute, "how long to wait")
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
	server, claimUID := name, ""
	if kind == resource.KindClaim {
		claim, err := api.Get[*resource.Claim](ctx, c, name)
		if err != nil {
			return p, err
		}
		server, claimUID, p.phase = claim.Status.Server, claim.Metadata.UID, claim.Status.Phase
		if server == "" {
			p.text = strings.TrimSpace("no server yet " + condition.Codes(claim.Status.Conditions, time.Now()))
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
		p.phase = srv.Status.Phase
	}
	p.claim = srv.Status.Claim
	p.text = fmt.Sprintf("server %s %s", server, printer.Dash(string(srv.Status.Phase)))
	if r := srv.Status.Report; r != nil {
		// The record counts only for the claim that is waited for.
		p.provisioned = len(r.Provisioned) > 0 && r.OwnerUID != "" && (claimUID == "" || r.OwnerUID == claimUID)
		p.text += ", power " + string(r.Observation.Power)
		if t := r.Attempt; t != nil {
			p.text += fmt.Sprintf(", attempt %d %s", t.Number, t.State)
		}
	}
	if codes := condition.Codes(srv.Status.Conditions, time.Now()); codes != "" {
		p.text += ", " + codes
	}
	return p, nil
}
