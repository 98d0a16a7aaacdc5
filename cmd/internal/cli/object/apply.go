package object

import (
	"errors"
	"fmt"

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
	var dry dryRun
	var prune pruning
	var keepGoing bool
	cmd := &cobra.Command{
		Use: "apply -f FILE|DIR|-", Short: "Create or change resources from files", Args: cobra.NoArgs,
		Long: "Create or change resources from files of any size. What is in no file is left as it is. All are checked\n" +
			"before any is written. What one request has room for, 1 MiB, is written only if none is refused. More is\n" +
			"written in parts: what is refused then stops nothing but what refers to it, and the same apply again goes on.\n\n" +
			"With --prune --applyset NAME the resources are annotated with the name of their set, and what has\n" +
			"that name and is in the files no more is deleted: after a question, or with --yes. A claim that has a\n" +
			"server is deleted with --yes only. Holds are never released by what files lack.",
		Example: "  rackctl apply -f rack.yaml -f servers/\n  rackctl apply --dry-run -f -\n  rackctl apply -f site/ --prune --applyset site",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return protocol.Errorf(protocol.CodeInvalid, "", "give at least one file: apply -f FILE")
			}
			if err := prune.check(); err != nil {
				return err
			}
			index, err := manifest.NewIndex(files, src.Stdin)
			if err != nil {
				return err
			}
			defer index.Close()
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			a := application{client: c, printer: pr, index: index, prune: &prune, dryRun: bool(dry), keepGoing: keepGoing, fitter: fitter{client: c}}
			if err := a.run(cmd.Context()); err != nil {
				return err
			}
			return prune.run(cmd.Context(), c, src, pr, index, bool(dry))
		},
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "file, folder or - for standard input; may be repeated")
	addDryRun(cmd.Flags(), &dry, "let the hub check everything, and change nothing")
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "apply what the hub does not refuse, also where it refuses something")
	cmd.Flags().BoolVar(&prune.prune, "prune", false, "delete what was applied with the same --applyset, and is in the files no more")
	cmd.Flags().StringVar(&prune.set, "applyset", "", "with --prune: the name of what these files are together")
	cmd.Flags().BoolVarP(&prune.yes, "yes", "y", false, "with --prune: do not ask, and delete claims too that have a server")
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
	return ofCode(p.Code, p.Op, p.Hint, list)
}

// ofCode is what is wrong in files. Conflicts keep their code.
func ofCode(code protocol.Code, op, hint string, list manifest.Errors) error {
	if code == protocol.CodeInvalid {
		return list
	}
	return protocol.Errorf(code, op, "%s", list.Error()).WithHint("%s", hint)
}
