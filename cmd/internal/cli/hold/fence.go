package hold

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// answerAge is how old the hub's last answer may be to count as what is known.
const answerAge = 10 * time.Second

func fenceCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var wait bool
	var timeout time.Duration
	req := api.HoldRequest{HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}
	cmd := &cobra.Command{
		Use: "fence SERVER", Short: "Power a server off at once, keep it off, and prove that it is off", Args: cobra.ExactArgs(1),
		Long: "Power a server off at once and keep it off by a hard hold, wait for the receipt that proves it\n" +
			"off, and print it. Only exit code 0 says that everything that ran on it is stopped. The hold\n" +
			"lies until rackctl release, whatever the exit code is; the same command again goes on waiting.\n\n" +
			"Exit codes:\n" +
			"   0  proved off; the receipt is printed\n" +
			"  10  not proved: it is still being stopped, was powered on by somebody, waits for firmware\n" +
			"      work, or the hold was released\n" +
			"  11  unknown: its BMC, its rack's agent or the hub does not answer, or what they said is older\n" +
			"      than three polls (Stale)\n" +
			"  12  somebody confirmed that it is down (rackctl confirm-down); the receipt that is printed\n" +
			"      says who, and is no proof\n" +
			"   2 to 8 as with any command: the hold was refused, or the hub was not asked",
		Example: "  rackctl fence n1 --key node/7 --timeout 2m && kubectl delete node node-7",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if !wait {
				timeout = 0
			}
			return fence(cmd.Context(), pr, c, args[0], req, timeout)
		},
	}
	cmd.Flags().StringVar(&req.Key, "key", "fence", "your name for this hold; one hold per caller, key and server")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for people")
	cmd.Flags().StringVar(&req.Ref, "ref", "", "what it belongs to, kept as it is")
	cmd.Flags().BoolVar(&req.ForceDuringFirmware, "force-during-firmware", false, "stop it also while its firmware is changed, which can break it")
	cmd.Flags().BoolVar(&wait, "wait", true, "wait for the receipt; else say what is known now")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

// fence places the hold and waits for its receipt. Placing it again is the same hold,
// so that a hub which does not answer is asked until it does.
func fence(ctx context.Context, pr *printer.Printer, c *api.Client, server string, req api.HoldRequest, timeout time.Duration) error {
	var last *resource.Hold
	var heard time.Time
	look := func(ctx context.Context) (string, bool, error) {
		var h *resource.Hold
		var err error
		if last == nil {
			h, err = c.Holds.Create(ctx, server, req)
		} else {
			h, err = api.Get[*resource.Hold](ctx, c, last.Metadata.Name)
		}
		switch code := protocol.CodeOf(err); {
		case code == protocol.CodeUnavailable || code == protocol.CodeTimeout:
			return "the hub does not answer: " + err.Error(), false, nil
		case code == protocol.CodeNotFound && last != nil:
			last.Status.State, last.Status.Message = resource.StateReleasing, "it was released and is gone"
			heard = time.Now()
			return "", true, nil
		case err != nil:
			return "", false, err
		}
		last, heard = h, time.Now()
		return stateText(h), settled(h), nil
	}
	var err error
	if timeout > 0 {
		err = client.Poll(ctx, timeout, "fence "+server, pr.Telling("fence "+server), look)
	} else {
		_, _, err = look(ctx)
	}
	why := "the hub does not answer"
	switch code := protocol.CodeOf(err); {
	case err == nil, code == protocol.CodeTimeout:
	case last == nil && code != protocol.CodeInternal:
		return err // refused: nothing lies
	default:
		why, heard = err.Error(), time.Time{}
	}
	if last == nil || time.Since(heard) > answerAge {
		return printer.WithExit(protocol.Errorf(protocol.CodeTimeout, "fence", "it is not known whether server %q is off: %s", server, why).
			WithHint("the hold may lie; the same command again asks for it"), exitUnknown)
	}
	return verdict(pr, last)
}

// settled says whether waiting brings nothing more.
func settled(h *resource.Hold) bool {
	exit := fenceExit(h.Status.State, h.Status.Receipt, h.Status.Stale)
	return exit == 0 || exit == exitManual || h.Status.State == resource.StateReleasing
}

// fenceExit is the exit code for a hold that stands so.
//
//	state       | receipt | stale | exit
//	Fenced      | proof   | no    | 0
//	Confirmed   | manual  | *     | 12
//	Stopping    | *       | *     | 10
//	Forcing     | *       | *     | 10
//	Violated    | *       | *     | 10
//	Releasing   | *       | *     | 10
//	*           | *       | *     | 11
//
// A receipt proves nothing of now while the last recorded read of the server is old.
func fenceExit(state resource.HoldState, r *resource.Receipt, stale bool) int {
	switch state {
	case resource.StateFenced:
		if r != nil && r.Manual == nil && !stale {
			return 0
		}
	case resource.StateConfirmed:
		if r != nil && r.Manual != nil {
			return exitManual
		}
	case resource.StateStopping, resource.StateForcing, resource.StateViolated, resource.StateReleasing:
		return exitNotProved
	case resource.StateAccepted, resource.StateEnforced, resource.StateUnreachable, resource.StateStale:
	}
	return exitUnknown
}

// verdict prints what there is and says what is known.
func verdict(pr *printer.Printer, h *resource.Hold) error {
	exit := fenceExit(h.Status.State, h.Status.Receipt, h.Status.Stale)
	if exit == 0 {
		return showReceipt(pr, h)
	}
	e := protocol.Errorf(protocol.CodeTimeout, "fence", "server %q is not proved off: hold %s is %s", h.Spec.Server, h.Metadata.Name, stateText(h)).
		WithHint("the hold lies on; the same command again waits on, and rackctl describe server %s shows more", h.Spec.Server)
	switch {
	case exit == exitManual:
		if err := showReceipt(pr, h); err != nil {
			return err
		}
		e.Message = "server " + h.Spec.Server + " was confirmed down and is not proved off"
		e.Hint = "you rely on the word of whoever confirmed it"
	case h.Status.State == resource.StateReleasing:
		e.Hint = "nothing keeps the server off; fence it again if that is still needed"
	case exit == exitUnknown && h.Status.Stale:
		e.Message = "it is not known whether server " + h.Spec.Server + " is off: hold " + h.Metadata.Name + " is " + stateText(h)
		e.Hint = "a receipt of before proves nothing of now; rackctl describe server " + h.Spec.Server + " shows what keeps its agent from recording reads"
	case exit == exitUnknown:
		e.Message = "it is not known whether server " + h.Spec.Server + " is off: hold " + h.Metadata.Name + " is " + stateText(h)
		e.Hint = "repair the BMC or the agent, or look at the server and say so: rackctl confirm-down " + h.Metadata.Name + " --reason REASON"
	}
	return printer.WithExit(e, exit)
}
