package hold

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func rebootCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	return requestCmd(hubs, src, pr, "reboot", resource.RequestReboot, "Stop a server once and start it with the boot that its claim says")
}

func powerOffCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	return requestCmd(hubs, src, pr, "power-off", resource.RequestPowerOff, "Stop a server once that no claim wants On")
}

// requestCmd asks for one one-shot.
func requestCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer, name string, action resource.RequestAction, short string) *cobra.Command {
	var mode, ref, fromAnnotation string
	var within, timeout time.Duration
	var wait, anyPhase bool
	var several inHub
	cmd := &cobra.Command{
		Use: name + " SERVER...", Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			req := api.RebootRequest{Action: action, Mode: resource.StopMode(mode), AnyPhase: anyPhase, Ref: ref}
			if within != 0 {
				at := time.Now().Add(within)
				req.NotAfter = &at
			}
			if cmd.Flags().Changed(flagAnnotation) {
				if len(args) != 1 {
					return protocol.Errorf(protocol.CodeInvalid, "", "--%s is for one server", flagAnnotation)
				}
				r, err := rebootAnnotation(cmd, c, args[0], fromAnnotation)
				if err != nil {
					return err
				}
				if r, err = follow(cmd.Context(), pr, c, r, wait, timeout); err != nil {
					return err
				}
				return showRequest(pr, r)
			}
			servers, err := several.servers(cmd, hubs, src, pr, name, args)
			if err != nil {
				return err
			}
			if several.fits(servers) {
				one := req
				one.Action = ""
				b, known, err := several.ask(cmd.Context(), pr, c, api.BulkRequest{Action: api.BulkAction(action), Names: servers, Request: &one})
				if err != nil {
					return err
				}
				if known {
					return several.showRequests(cmd.Context(), pr, c, b, servers, ref, wait, timeout)
				}
			}
			var done []api.RequestStatus
			err = several.Each(pr, servers, func(server string) error {
				r, err := c.Requests.Reboot(cmd.Context(), server, req)
				if err == nil {
					r, err = follow(cmd.Context(), pr, c, r, wait, timeout)
				}
				if err == nil {
					done = append(done, r)
				}
				return err
			})
			if len(done) == 0 {
				return err
			}
			v := asked.View(done...)
			v.Single = len(done) == 1 && len(servers) == 1
			return errors.Join(pr.Show(v), err)
		},
	}
	several.flags(cmd)
	cmd.Flags().StringVar(&mode, "mode", "soft", "soft: ask the system to stop first; hard: power off at once")
	cmd.Flags().DurationVar(&within, "within", 0, "give up if it was not begun by then (default 10m)")
	cmd.Flags().BoolVar(&anyPhase, "any-phase", false, "also without a claim (it stays off then), and during a first boot, which it ends")
	cmd.Flags().StringVar(&ref, "ref", "", "what it belongs to, kept as it is; the same again is the same request until that has ended")
	if action == resource.RequestReboot {
		cmd.Flags().StringVar(&fromAnnotation, flagAnnotation, "", "NAME or NAME=VALUE of metal3's reboot annotation, in place of the flags above")
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is done")
	cmd.Flags().DurationVar(&timeout, "timeout", 15*time.Minute, "how long to wait")
	return cmd
}

// rebootAnnotation asks for a reboot by metal3's annotation. The form with a key keeps
// the server off, which nobody who says reboot expects.
func rebootAnnotation(cmd *cobra.Command, c *api.Client, server, text string) (r api.RequestStatus, err error) {
	if err := alone(cmd, "mode", "within", "any-phase", "ref", "selector", "field-selector"); err != nil {
		return r, err
	}
	if name := annotation(text).Annotation; strings.HasPrefix(name, resource.AnnotationReboot+"/") {
		return r, protocol.Errorf(protocol.CodeInvalid, "", "%s has a key: it holds the server off until it is released", name).
			WithHint("rackctl hold %s --%s '%s'", server, flagAnnotation, text)
	}
	_, request, err := annotate(cmd, c, server, text)
	if err != nil {
		return r, err
	}
	if request == nil {
		return r, protocol.Errorf(protocol.CodeInternal, "reboot", "the hub made no request of %s", text)
	}
	return *request, nil
}

func showRequest(pr *printer.Printer, r api.RequestStatus) error {
	v := asked.View(r)
	v.Single = true
	return pr.Show(v)
}

// follow waits for what the agent says of a request: that it ended, or without wait at
// least that it was taken. An agent that says nothing for a while is told of, and no error.
func follow(ctx context.Context, pr *printer.Printer, c *api.Client, r api.RequestStatus, wait bool, timeout time.Duration) (api.RequestStatus, error) {
	if wait {
		return waitRequest(ctx, pr, c, r.ID, timeout)
	}
	err := client.Poll(ctx, min(timeout, answerIn), "request/"+r.ID, func(string) {}, func(ctx context.Context) (string, bool, error) {
		now, err := c.Requests.Get(ctx, r.ID)
		if err != nil {
			return "", false, err
		}
		r = now
		return string(r.Report.Outcome), r.Taken || r.Report.Outcome.Ended(), nil
	})
	switch {
	case protocol.CodeOf(err) == protocol.CodeTimeout && ctx.Err() == nil:
		pr.Progress("request/%s: the agent of rack %s has not answered yet; rackctl get requests shows when it does", r.ID, r.Rack)
	case err != nil:
		return r, err
	}
	return r, ended(r)
}

// answerIn is how long a command waits for the agent to take a request.
const answerIn = 10 * time.Second

// ended is the error of a request that ended otherwise than it was asked for.
func ended(r api.RequestStatus) error {
	fail := func(code protocol.Code, hint string) error {
		return protocol.Errorf(code, string(r.Action), "%s: %s", r.Report.Outcome, printer.Dash(r.Report.Reason)).WithHint("%s", hint)
	}
	switch r.Report.Outcome {
	case resource.OutcomeRefused:
		return fail(protocol.CodeConflict, "see rackctl describe server "+r.Server)
	case resource.OutcomeCancelled:
		return fail(protocol.CodeConflict, "ask again if it is still wanted")
	case resource.OutcomeExpired:
		return fail(protocol.CodeTimeout, "the rack's agent did not begin in time; see rackctl get agents")
	case resource.OutcomeUnknown:
		return fail(protocol.CodeTimeout, "it was sent and may have happened; read the server's state before you ask again")
	case resource.OutcomePending, resource.OutcomeDone:
	}
	return nil
}

func waitRequest(ctx context.Context, pr *printer.Printer, c *api.Client, id string, timeout time.Duration) (r api.RequestStatus, err error) {
	err = client.Poll(ctx, timeout, "request/"+id, pr.Telling("request/"+id), func(ctx context.Context) (string, bool, error) {
		r, err = c.Requests.Get(ctx, id)
		if err != nil {
			return "", false, err
		}
		return asked.Reason(r), r.Report.Outcome.Ended(), ended(r)
	})
	return r, err
}
