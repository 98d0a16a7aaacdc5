package boot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// refusalStands is how often in a row a refusal must be read before it is believed: the
// first may be of what the claim said before.
const refusalStands = 4

func bootEnvSetCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "set SERVER ENV", Short: "Have a claimed server boot an environment", Args: cobra.ExactArgs(2),
		Long: "Have a claimed server boot an environment: spec.bootEnv of its claim. Before the server has\n" +
			"booted for the claim, the change is made as a whole or refused, and what was in force stays.\n" +
			"While a boot for the claim is under way it is refused, and nothing is changed (exit code 4);\n" +
			"an installed server keeps its system, and the claim says ReprovisionRequired.\n\n" +
			"With --wait, the command ends when the rack's agent serves the environment, or with the\n" +
			"refusal: exit code 2 where the environment cannot be booted, 4 where the server cannot change\n" +
			"now, that of the agent's reason where the agent refuses it (3: a file of it is not there), 7\n" +
			"after the timeout. What the agent cannot fetch now it tries again, and so the command waits.",
		Example: "  rackctl bootenv set n1 debian-12-install --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			cl, outcome, err := setBootEnv(cmd.Context(), c, args[0], args[1])
			if err != nil {
				return err
			}
			what := "claim/" + cl.Metadata.Name
			if !wait {
				return pr.Text(map[string]string{"name": what, "outcome": outcome, "bootEnv": args[1]}, []string{what}, what+" "+outcome)
			}
			pr.Progress("%s %s", what, outcome)
			if err := waitBootEnv(cmd.Context(), pr, c, cl, args[1], timeout); err != nil {
				return err
			}
			return pr.Text(map[string]string{"name": "server/" + args[0], "bootEnv": args[1]}, []string{"server/" + args[0]}, "server/"+args[0]+" has "+args[1])
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is in force, or refused")
	cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait")
	return cmd
}

// setBootEnv changes the claim that has a server.
func setBootEnv(ctx context.Context, c *api.Client, server, env string) (*resource.Claim, string, error) {
	const op = "set boot environment"
	srv, err := api.Get[*resource.Server](ctx, c, server)
	if err != nil {
		return nil, "", err
	}
	claims, err := c.Objects.List(ctx, resource.KindClaim)
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(claims, func(o resource.Object) bool { return o.(*resource.Claim).Status.Server == server })
	if i < 0 {
		return nil, "", protocol.Errorf(protocol.CodeConflict, op, "server %q has no claim", server).
			WithHint("apply a Claim with spec.serverRef %s and spec.bootEnv %s", server, env)
	}
	cl := claims[i].(*resource.Claim)
	if err := maySet(cl, srv, env); err != nil {
		return nil, "", err
	}
	cl.Spec.Image, cl.Spec.BootEnv = "", &resource.Ref{Name: env}
	out, err := c.Objects.Apply(ctx, []resource.Object{cl}, false)
	if p, ok := errors.AsType[*api.Problem](err); ok && len(p.Errors) > 0 {
		var wrong protocol.FieldErrors
		for _, f := range p.Errors {
			wrong = append(wrong, protocol.FieldError{Path: f.Path, Message: f.Message})
		}
		return nil, "", protocol.Errorf(p.Code, op, "claim %s: %s", cl.Metadata.Name, wrong).WithHint("nothing was changed; rackctl get bootenvs lists what there is")
	}
	if err != nil {
		return nil, "", err
	}
	if len(out.Results) != 1 {
		return nil, "", protocol.Errorf(protocol.CodeInternal, op, "the hub answered with %d results", len(out.Results))
	}
	return cl, out.Results[0].Outcome, nil
}

// setVerdict is whether a claim may be given another environment now.
type setVerdict string

const (
	setGo     setVerdict = "go on"
	setBoots  setVerdict = "refused: it boots"
	setHasRun setVerdict = "refused: the installer runs"
)

// setRule says whether a claim may be given another environment now: while a boot for it is
// under way, nothing is changed. The first row that fits decides.
//
//	same | ours | network | attempt        | verdict
//	yes  | *    | *       | *              | go on
//	no   | no   | *       | *              | go on
//	no   | yes  | no      | *              | go on
//	no   | yes  | yes     | Fetched        | refused: the installer runs
//	no   | yes  | yes     | Preparing      | refused: it boots
//	no   | yes  | yes     | Armed          | refused: it boots
//	no   | yes  | yes     | PowerRequested | refused: it boots
//	no   | yes  | yes     | Consumed       | refused: it boots
//	no   | yes  | yes     | *              | go on
//
// same is that the claim names the environment already, ours that the attempt is for the
// claim, network that it does not boot the disk.
func setRule(same, ours, network bool, state resource.AttemptState) setVerdict {
	if same || !ours || !network {
		return setGo
	}
	switch state {
	case resource.AttemptFetched:
		return setHasRun
	case resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptConsumed:
		return setBoots
	case resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return setGo
}

// maySet says why a claim is not given another environment now.
func maySet(cl *resource.Claim, srv *resource.Server, env string) error {
	const op = "set boot environment"
	r := srv.Status.Report
	if r == nil || r.Attempt == nil {
		return nil
	}
	same := cl.Spec.BootEnv != nil && cl.Spec.BootEnv.Name == env
	a := r.Attempt
	verdict := setRule(same, r.OwnerUID == cl.Metadata.UID && (a.OwnerUID == "" || a.OwnerUID == cl.Metadata.UID), a.Intended != protocol.TargetHdd, a.State)
	what := "its image"
	if cl.Spec.BootEnv != nil {
		what = cl.Spec.BootEnv.Name
	}
	since := a.Since.UTC().Format("15:04:05Z")
	switch verdict {
	case setHasRun:
		return protocol.Errorf(protocol.CodeConflict, op, "%s has all files of %s since %s, and may be installing; nothing was changed", srv.Metadata.Name, what, since).
			WithHint("wait for the end of it: rackctl get server %s -w; what it installs is kept, and to install over it delete the claim and create it again", srv.Metadata.Name)
	case setBoots:
		return protocol.Errorf(protocol.CodeConflict, op, "%s boots %s, attempt %d, %s since %s; nothing was changed", srv.Metadata.Name, what, a.Number, a.State, since).
			WithHint("set it when this boot has ended: rackctl get server %s -w", srv.Metadata.Name)
	case setGo:
	}
	return nil
}

// waitBootEnv waits until the rack's agent serves an environment for a claim.
func waitBootEnv(ctx context.Context, pr *printer.Printer, c *api.Client, cl *resource.Claim, env string, timeout time.Duration) error {
	var last error
	stood := 0
	return client.Poll(ctx, timeout, "server/"+cl.Status.Server, pr.Telling("server/"+cl.Status.Server), func(ctx context.Context) (string, bool, error) {
		now, err := api.Get[*resource.Claim](ctx, c, cl.Metadata.Name)
		if err != nil {
			return "", false, err
		}
		srv, err := api.Get[*resource.Server](ctx, c, cl.Status.Server)
		if err != nil {
			return "", false, err
		}
		state, refused := envProgress(now, srv, env)
		if refused == nil {
			stood, last = 0, nil
			return state, state == envDone, nil
		}
		if last == nil || last.Error() != refused.Error() {
			stood, last = 0, refused
		}
		if stood++; stood == refusalStands {
			return "", false, refused
		}
		return "refused: " + refused.Error(), false, nil
	})
}

const envDone = "in force"

// envProgress is how far a server is with an environment, and why it does not get it. The
// first row that fits decides.
//
//	serves | claim says          | agent says  | outcome
//	yes    | *                   | *           | in force
//	no     | BootEnvInvalid      | *           | refused: invalid
//	no     | ReprovisionRequired | *           | refused: conflict
//	no     | *                   | unavailable | on its way
//	no     | *                   | timeout     | on its way
//	no     | *                   | invalid     | refused: invalid
//	no     | *                   | not_found   | refused: not_found
//	no     | *                   | conflict    | refused: conflict
//	no     | *                   | unsupported | refused: unsupported
//	no     | *                   | denied      | refused: denied
//	no     | *                   | internal    | refused: internal
//	no     | *                   | Refused     | refused: conflict
//	no     | *                   | *           | on its way
//
// What the agent says is the code of its refusal; an agent that gives none says Refused. It
// tries again by itself what is not available.
func envProgress(cl *resource.Claim, srv *resource.Server, env string) (state string, refused error) {
	const op = "set boot environment"
	r := srv.Status.Report
	var e *resource.EnvReport
	if r != nil && r.OwnerUID == cl.Metadata.UID {
		e = r.Env
	}
	if e != nil && e.State == resource.EnvReady && e.BootEnv == env {
		return envDone, nil
	}
	for _, code := range []resource.ConditionCode{resource.CondBootEnvInvalid, resource.CondReprovisionRequired} {
		i := slices.IndexFunc(cl.Status.Conditions, func(s resource.ConditionState) bool { return s.Code == code })
		if i < 0 {
			continue
		}
		known, _ := resource.LookupCondition(code)
		kind := protocol.CodeInvalid
		if code == resource.CondReprovisionRequired {
			kind = protocol.CodeConflict
		}
		return "", protocol.Errorf(kind, op, "%s: %s", code, cl.Status.Conditions[i].Message).WithHint("%s", known.Hint)
	}
	if e != nil && e.State == resource.EnvRefused {
		if e.Code == protocol.CodeUnavailable || e.Code == protocol.CodeTimeout {
			return "refused for now: " + e.Message, nil
		}
		known, _ := resource.LookupCondition(resource.CondBootEnvRefused)
		return "", protocol.Errorf(cmp.Or(e.Code, protocol.CodeConflict), op, "%s: %s", resource.CondBootEnvRefused, e.Message).WithHint("%s", known.Hint)
	}
	state = "waits for the rack's agent"
	if e != nil {
		state = strings.ToLower(string(e.State))
		if e.BootEnv != "" {
			state += ", serves " + e.BootEnv
		}
	}
	if codes := resource.ConditionCodes(cl.Status.Conditions, time.Now()); codes != "" {
		state += ", " + codes
	}
	return state, nil
}
