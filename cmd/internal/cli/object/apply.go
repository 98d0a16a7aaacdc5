package object

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func applyCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var files []string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "apply -f FILE|DIR|-", Short: "Create or change resources from files", Args: cobra.NoArgs,
		Example: "  rackctl apply -f rack.yaml -f servers/\n  rackctl apply --dry-run -f -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return protocol.Errorf(protocol.CodeInvalid, "", "give at least one file: apply -f FILE")
			}
			sources, err := manifest.Read(files, src.Stdin)
			if err != nil {
				return err
			}
			set, err := manifest.Parse(sources)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Objects.Apply(cmd.Context(), set.Objects(), dryRun)
			if err != nil {
				return located(err, set)
			}
			var names, lines []string
			for i, r := range out.Results {
				name := strings.ToLower(string(r.Kind)) + "/" + r.Name
				line := fmt.Sprintf("%s %s", name, r.Outcome)
				if dryRun {
					line += " (dry run)"
				}
				line += defaulted(set.Objects()[i])
				names, lines = append(names, name), append(lines, line)
				for _, b := range r.Reboots {
					lines = append(lines, rebootText(b, dryRun))
				}
			}
			return pr.Text(out, names, strings.Join(lines, "\n"))
		},
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "file, folder or - for standard input; may be repeated")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "let the hub check everything, and change nothing")
	return cmd
}

// defaulted says by which method a claim first boots that names none (seed 000).
func defaulted(obj resource.Object) string {
	claim, is := obj.(*resource.Claim)
	if !is || claim.Spec.BootPolicy.FirstBoot != "" {
		return ""
	}
	policy := claim.Spec.BootPolicy
	policy.Default()
	return fmt.Sprintf("; bootPolicy.firstBoot is %s by default", policy.FirstBoot)
}

// rebootText is what a reboot annotation came to.
func rebootText(r api.RebootResult, dryRun bool) string {
	text := fmt.Sprintf("server/%s %s by %s", r.Server, r.Outcome, r.Annotation)
	if r.Outcome == "asked" {
		text = fmt.Sprintf("server/%s is to reboot by %s", r.Server, r.Annotation)
	}
	switch {
	case dryRun:
		text += " (dry run)"
	case r.Hold != "":
		text += ": hold/" + r.Hold
	case r.Request != "":
		text += ": request/" + r.Request
	}
	return text
}

// located gives what the hub found wrong its file and line. Conflicts keep
// their code.
func located(err error, set *manifest.Set) error {
	p, ok := errors.AsType[*api.Problem](err)
	if !ok || len(p.Errors) == 0 {
		return err
	}
	var list manifest.Errors
	for _, f := range p.Errors {
		list = append(list, set.At(f.Index, f.Path, f.Message))
	}
	if p.Code == protocol.CodeInvalid {
		return list
	}
	return protocol.Errorf(p.Code, p.Op, "%s", list.Error()).WithHint("%s", p.Hint)
}
