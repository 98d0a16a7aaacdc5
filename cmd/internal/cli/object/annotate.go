package object

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/choice"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func annotateCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "annotate KIND NAME KEY=VALUE|KEY-...", Short: "Set annotations of a resource, or take them away", Args: cobra.MinimumNArgs(2),
		Long: "Set annotations of a resource, or take them away with KEY-.\n\n" +
			"The reboot annotations of metal3 act on a Server, or on the server of a Claim: reboot.metal3.io/KEY\n" +
			"holds it off until KEY- , which releases your own hold and nobody else's; reboot.metal3.io asks for one\n" +
			"reboot each time. In files that are applied they are what your last apply said: the first apply with one\n" +
			"acts, the same again does nothing, and your next apply without it releases the hold.",
		Example: "  rackctl annotate server n1 'reboot.metal3.io/node-7={\"mode\":\"hard\"}'\n" +
			"  rackctl annotate server n1 reboot.metal3.io/node-7-\n" +
			"  rackctl annotate segment boot rackboot/try=2",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, rest, err := annotated(args)
			if err != nil {
				return err
			}
			set, err := parseAnnotations(rest)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var done annotatedAnswer
			for _, a := range set {
				if !resource.IsReboot(a.name) {
					continue
				}
				if kind != resource.KindServer && kind != resource.KindClaim {
					return protocol.Errorf(protocol.CodeInvalid, "annotate", "%s is not held or rebooted", kind).WithHint("annotate a server or a claim")
				}
				out, err := c.Objects.Annotate(cmd.Context(), kind, name, api.AnnotationRequest{Annotation: a.name, Value: a.value, Remove: a.remove})
				if err != nil {
					return err
				}
				done = append(done, annotatedResult{a.name, out})
			}
			if slices.ContainsFunc(set, func(a annotation) bool { return !resource.IsReboot(a.name) }) {
				if err := annotateObject(cmd, c, kind, name, set); err != nil {
					return err
				}
			}
			return pr.Text(done, []string{strings.ToLower(string(kind)) + "/" + name}, done.text(kind, name))
		},
	}
}

// annotation is one to set, or to take away.
type annotation struct {
	name, value string
	remove      bool
}

// annotated reads KIND NAME or KIND/NAME before the annotations.
func annotated(args []string) (kind resource.Kind, name string, rest []string, err error) {
	n := 2
	if strings.Contains(args[0], "/") {
		n = 1
	}
	kind, name, err = choice.OneTarget(args[:n])
	return kind, name, args[n:], err
}

// parseAnnotations reads KEY=VALUE and KEY-.
func parseAnnotations(args []string) (out []annotation, err error) {
	seen := map[string]bool{}
	for _, arg := range args {
		a := annotation{}
		var sets bool
		if a.name, a.value, sets = strings.Cut(arg, "="); !sets {
			a.name, a.remove = strings.CutSuffix(arg, "-")
		}
		if a.name = strings.TrimSpace(a.name); a.name == "" || !sets && !a.remove || seen[a.name] {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "%q is neither KEY=VALUE nor KEY-, or comes twice", arg)
		}
		seen[a.name] = true
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "give at least one KEY=VALUE or KEY-")
	}
	return out, nil
}

// annotateObject writes annotations that mean something to people only, where nobody changes the
// resource meanwhile.
func annotateObject(cmd *cobra.Command, c *api.Client, kind resource.Kind, name string, set []annotation) error {
	obj, err := readWritten(cmd.Context(), c, "annotate", kind, name)
	if err != nil {
		return err
	}
	m := &obj.Head().Metadata
	next := maps.Clone(m.Annotations)
	if next == nil {
		next = map[string]string{}
	}
	for _, a := range set {
		switch {
		case resource.IsReboot(a.name):
		case a.remove:
			delete(next, a.name)
		default:
			next[a.name] = a.value
		}
	}
	m.Annotations = next
	_, err = c.Objects.Apply(cmd.Context(), []resource.Object{obj}, false)
	return err
}

// annotatedResult is what a reboot annotation came to.
type annotatedResult struct {
	Annotation string `json:"annotation"`
	api.AnnotationAnswer
}

type annotatedAnswer []annotatedResult

func (done annotatedAnswer) text(kind resource.Kind, name string) string {
	lines := []string{fmt.Sprintf("%s/%s annotated", strings.ToLower(string(kind)), name)}
	for _, r := range done {
		switch h := r.Hold; {
		case h != nil && h.Status.ReleasedAt != nil:
			lines = append(lines, fmt.Sprintf("hold/%s on server %s released", h.Metadata.Name, h.Spec.Server))
		case h != nil:
			lines = append(lines, fmt.Sprintf("hold/%s on server %s, %s: %s", h.Metadata.Name, h.Spec.Server, h.Spec.Mode, h.Status.State))
		case r.Request != nil:
			lines = append(lines, fmt.Sprintf("request/%s: %s server %s, %s", r.Request.ID, r.Request.Action, r.Request.Server, r.Request.Mode))
		case r.Unchanged:
			lines = append(lines, r.Annotation+": you have no such hold")
		}
	}
	return strings.Join(lines, "\n")
}
