package boot

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func ignitionCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ignition", Short: "Translate Ignition of specification 1 and 2 to 3, and see whom it trusts", Args: cobra.NoArgs,
		Long: "Work on an Ignition configuration in a file of this host. No hub is asked, but for --for-group. A group's stub\n" +
			"is translated by the hub in the same way, if spec.stub.manage of the ServerGroup consents.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ignitionTranslateCmd(hubs, src, pr), ignitionInspectCmd(src, pr))
	return cmd
}

// translateFlags are those of ignition translate.
type translateFlags struct {
	options   ignition.TranslateOptions
	replaceCA string // file
	out       string // file
}

func ignitionTranslateCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var f translateFlags
	var group string
	cmd := &cobra.Command{
		Use: "translate FILE|-", Short: "Write a configuration in words that an image reads", Args: cobra.ExactArgs(1),
		Long: `Write an Ignition configuration in words that an image reads: specification 1 and 2.0 to 2.4 become
the lowest of specification 3 that says the same, 3.1.0 or with --max 3.0.0 that; what the image reads
already comes out byte for byte. Configurations that it includes by data: URLs are translated too.
What servers fetch from elsewhere is not: see rackctl ignition inspect.

What specification 3 has no words for is refused with its path, as everything else that cannot be
translated; --accept-loss lets it go, and says on standard error what went. The exit code of a
refusal is 2. With --for-group the hub is asked what the image of the group reads, and its spec.stub
says the rest, so that the result is what the group can have. The result has the secrets of the configuration; a file of -o is for its owner only,
and replaces none.`,
		Example: "  rackctl ignition translate worker.ign --max 3.2.0 -o worker-3.ign\n  rackctl ignition translate - < worker.ign\n  rackctl ignition translate worker.ign --for-group workers -o worker-3.ign",
		RunE: func(cmd *cobra.Command, args []string) error {
			if group != "" {
				for _, flag := range []string{"max", "accept-loss", "replace-ca"} {
					if cmd.Flags().Changed(flag) {
						return protocol.Errorf(protocol.CodeInvalid, "", "--%s is what --for-group asks the hub for", flag).WithHint("give one of them")
					}
				}
				var err error
				if f.options, err = optionsOf(cmd.Context(), hubs, group); err != nil {
					return err
				}
			}
			return ignitionTranslate(src, pr, args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.options.Max, "max", "", "highest specification that the image reads, such as 3.4.0 (default the newest)")
	cmd.Flags().StringVar(&group, "for-group", "", "translate for the image of this ServerGroup, by its spec.stub")
	cmd.Flags().BoolVar(&f.options.AcceptLoss, "accept-loss", false, "let go what specification 3 has no words for")
	cmd.Flags().StringVar(&f.replaceCA, "replace-ca", "", "file with the certificates, in PEM, to trust in place of those in the configuration")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "file to write (default standard output)")
	return cmd
}

// optionsOf are those by which the hub translates the user data of a group.
func optionsOf(ctx context.Context, hubs *client.Hubs, group string) (out ignition.TranslateOptions, err error) {
	c, err := hubs.Connect()
	if err != nil {
		return out, err
	}
	g, err := api.Get[*resource.ServerGroup](ctx, c, group)
	if err != nil {
		return out, err
	}
	if g.Status.StubLimit == "" {
		return out, protocol.Errorf(protocol.CodeConflict, "translate ignition", "nothing says what the image of group %q reads", group).
			WithHint("rackctl describe servergroup %s says which image it is to boot; --max gives the specification", group)
	}
	out.Max = g.Status.StubLimit
	if s := g.Spec.Stub; s != nil {
		out.AcceptLoss, out.ReplaceCA = s.AcceptLoss, s.ReplaceCA
	}
	return out, nil
}

func ignitionTranslate(src *files.Input, pr *printer.Printer, path string, f translateFlags) error {
	raw, err := readIgnition(src, path)
	if err != nil {
		return err
	}
	if f.replaceCA != "" {
		if f.options.ReplaceCA, err = src.Small(f.replaceCA); err != nil {
			return err
		}
		if strings.TrimSpace(f.options.ReplaceCA) == "" {
			return protocol.Errorf(protocol.CodeInvalid, "translate ignition", "%s is empty", f.replaceCA).WithHint("give certificates in PEM")
		}
	}
	out, err := ignition.Translate(raw, f.options)
	if err != nil {
		saidLosses(pr, err)
		return err
	}
	for _, l := range out.Lost {
		pr.Progress("lost: %s: %s", l.Path, l.What)
	}
	switch {
	case !out.Changed:
		pr.Progress("specification %s stays as it is", out.From)
	case out.From == out.To:
		pr.Progress("specification %s, changed", out.To)
	default:
		pr.Progress("specification %s became %s", out.From, out.To)
	}
	if f.out != "" && f.out != "-" {
		return files.WriteNew(f.out, out.Config)
	}
	if _, err = pr.Out.Write(out.Config); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "translate ignition", "%w", err)
	}
	return nil
}

// readIgnition reads a configuration from a file, or with - from standard input.
func readIgnition(src *files.Input, path string) ([]byte, error) {
	const op = "read ignition"
	in := src.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("check the path %s", path)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, resource.MaxIgnition+1)) // one more, which is refused as too long
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return raw, nil
}
