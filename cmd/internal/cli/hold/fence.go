package hold

import (
	"context"
	"fmt"
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
			"off, have its BMC read once more, and print the receipt. Only exit code 0 says that everything\n" +
			"that ran on it is stopped: the receipt stands, and a read that began after this command was Off.\n" +
			"The hold lies until rackctl release, whatever the exit code is; the same command again goes on\n" +
			"waiting.\n\n" +
			"Exit codes:\n" +
			"   0  proved off; the receipt is printed\n" +
			"  10  not proved: it is still being stopped, was powered on by somebody, waits for firmware\n" +
			"      work, or the hold was released\n" +
			"  11  unknown: its BMC, its rack's agent or the hub does not answer, or what they said is old\n" +
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

// fencing is one call of fence.
type fencing struct {
	c      *api.Client
	server string
	req    api.HoldRequest

	hold  *resource.Hold // as the hub said last
	heard time.Time      // when
	now   freshness      // what a read that began after the call says
	why   string         // why it does not say Off, for people
}

// freshness is what a read says of a receipt that began after fence was called.
type freshness string

const (
	freshOff   freshness = "Off"   // the server was off, and the receipt stands
	freshOther freshness = "other" // it was not off, or its proof begins anew
	freshNone  freshness = "none"  // there was no read, or the BMC did not answer
)

// fence places the hold, waits for its receipt, and has the server read. Placing it again is the
// same hold, so that a hub which does not answer is asked until it does.
func fence(ctx context.Context, pr *printer.Printer, c *api.Client, server string, req api.HoldRequest, timeout time.Duration) error {
	f := &fencing{c: c, server: server, req: req}
	var err error
	if timeout > 0 {
		err = client.Poll(ctx, timeout, "fence "+server, pr.Telling("fence "+server), f.look)
	} else {
		_, _, err = f.look(ctx)
	}
	why := "the hub does not answer"
	switch code := protocol.CodeOf(err); {
	case err == nil, code == protocol.CodeTimeout:
	case f.hold == nil && code != protocol.CodeInternal:
		return err // refused: nothing lies
	default:
		why, f.heard = err.Error(), time.Time{}
	}
	if f.hold == nil || time.Since(f.heard) > answerAge {
		return printer.WithExit(protocol.Errorf(protocol.CodeTimeout, "fence", "it is not known whether server %q is off: %s", server, why).
			WithHint("the hold may lie; the same command again asks for it"), exitUnknown)
	}
	return f.verdict(pr)
}

// look asks the hub, and says how it stands and whether waiting brings nothing more.
func (f *fencing) look(ctx context.Context) (string, bool, error) {
	var h *resource.Hold
	var err error
	if f.hold == nil {
		h, err = f.c.Holds.Create(ctx, f.server, f.req)
	} else {
		h, err = api.Get[*resource.Hold](ctx, f.c, f.hold.Metadata.Name)
	}
	switch code := protocol.CodeOf(err); {
	case code == protocol.CodeUnavailable || code == protocol.CodeTimeout:
		return "the hub does not answer: " + err.Error(), false, nil
	case code == protocol.CodeNotFound && f.hold != nil:
		f.hold.Status.State, f.hold.Status.Message = resource.StateReleasing, "it was released and is gone"
		f.heard = time.Now()
		return "", true, nil
	case err != nil:
		return "", false, err
	}
	f.hold, f.heard = h, time.Now()
	if exit := f.exit(freshOff); exit != 0 {
		return stateText(h), exit == exitManual || h.Status.State == resource.StateReleasing, nil
	}
	f.read(ctx)
	if f.now != freshOff {
		return stateText(h) + ", but " + f.why, false, nil
	}
	return stateText(h), true, nil
}

// read has the server read now.
func (f *fencing) read(ctx context.Context) {
	r, err := f.c.Servers.Read(ctx, f.server)
	f.heard = time.Now()
	switch {
	case err != nil:
		f.now, f.why = freshNone, "it cannot be read now: "+err.Error()
	case r.Power == protocol.PowerUnreachable:
		f.now, f.why = freshNone, "its BMC does not answer now: "+r.Error
	case r.Power != protocol.PowerOff:
		f.now, f.why = freshOther, fmt.Sprintf("it was read %s just now", r.Power)
	case !r.Stands(*f.hold.Status.Receipt):
		f.now, f.why = freshOther, "its agent has no such receipt any more, and proves anew"
	default:
		f.now = freshOff
	}
}

// exit is the exit code for how the hold stands.
func (f *fencing) exit(now freshness) int {
	return fenceExit(f.hold.Status.State, f.hold.Status.Receipt, f.hold.Status.Stale, now)
}

// fenceExit is the exit code for a hold that stands so.
//
//	state       | receipt | stale | fresh | exit
//	Fenced      | proof   | no    | Off   | 0
//	Fenced      | proof   | no    | other | 10
//	Confirmed   | manual  | *     | *     | 12
//	Stopping    | *       | *     | *     | 10
//	Forcing     | *       | *     | *     | 10
//	Violated    | *       | *     | *     | 10
//	Releasing   | *       | *     | *     | 10
//	*           | *       | *     | *     | 11
//
// A receipt proves nothing of now while the last recorded read of the server is old, and by
// itself nothing of the moment of the call: fresh is what a read says that began after it.
func fenceExit(state resource.HoldState, r *resource.Receipt, stale bool, fresh freshness) int {
	switch state {
	case resource.StateFenced:
		switch {
		case r == nil || r.Manual != nil || stale:
		case fresh == freshOff:
			return 0
		case fresh == freshOther:
			return exitNotProved
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
func (f *fencing) verdict(pr *printer.Printer) error {
	h, exit := f.hold, f.exit(f.now)
	if exit == 0 {
		return showReceipt(pr, h)
	}
	e := protocol.Errorf(protocol.CodeTimeout, "fence", "server %q is not proved off: hold %s is %s", h.Spec.Server, h.Metadata.Name, stateText(h)).
		WithHint("the hold lies on; the same command again waits on, and rackctl describe server %s shows more", h.Spec.Server)
	unknown := "it is not known whether server " + h.Spec.Server + " is off: hold " + h.Metadata.Name + " is " + stateText(h)
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
		e.Message = unknown
		e.Hint = "a receipt of before proves nothing of now; rackctl describe server " + h.Spec.Server + " shows what keeps its agent from recording reads"
	case h.Status.State == resource.StateFenced && f.now == freshOther:
		e.Message += ", but " + f.why
	case h.Status.State == resource.StateFenced:
		e.Message = unknown + ", but " + f.why
		e.Hint = "a receipt of before proves nothing of now; rackctl get agents shows whether its agent is there"
	case exit == exitUnknown:
		e.Message = unknown
		e.Hint = "repair the BMC or the agent, or look at the server and say so: rackctl confirm-down " + h.Metadata.Name + " --reason REASON"
	}
	return printer.WithExit(e, exit)
}
