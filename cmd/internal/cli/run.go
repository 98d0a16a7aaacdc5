package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/agentpackage"
	"rackboot/cmd/internal/cli/audit"
	"rackboot/cmd/internal/cli/backup"
	"rackboot/cmd/internal/cli/boot"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/convert"
	"rackboot/cmd/internal/cli/decode"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/group"
	"rackboot/cmd/internal/cli/hold"
	"rackboot/cmd/internal/cli/image"
	"rackboot/cmd/internal/cli/inventory"
	"rackboot/cmd/internal/cli/iso"
	"rackboot/cmd/internal/cli/login"
	"rackboot/cmd/internal/cli/object"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/site"
	"rackboot/cmd/internal/cli/support"
	"rackboot/cmd/internal/cli/top"
	"rackboot/cmd/internal/cli/webhook"
)

// Config is what a run of rackctl needs of the process.
type Config struct {
	Args    []string // without the program's name
	Getenv  func(string) string
	Version string
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
}

// Run runs rackctl and returns its exit code; see protocol.Code.ExitCode, and
// rackctl convert, fence and rollout status for those of their own.
// Results go to Out, everything else to Err.
func Run(ctx context.Context, cfg Config) int {
	root, pr := command(cfg)
	root.SetArgs(cfg.Args)
	err := root.ExecuteContext(ctx)
	pr.Settle()
	if err == nil {
		return 0
	}
	return printer.Fail(cfg.Err, err)
}

// Command is rackctl with its commands.
func Command(cfg Config) *cobra.Command {
	root, _ := command(cfg)
	return root
}

func command(cfg Config) (*cobra.Command, *printer.Printer) {
	hubs, src := &client.Hubs{Getenv: cfg.Getenv}, &files.Input{Stdin: cfg.In, Getenv: cfg.Getenv}
	pr := &printer.Printer{Out: cfg.Out, Err: cfg.Err, Getenv: cfg.Getenv}
	root := &cobra.Command{
		Use:   "rackctl",
		Short: "Say what bare-metal servers boot, hold them off, and see what happened",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return pr.Check()
		},
		Version:       cfg.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(cfg.In)
	root.SetOut(cfg.Out)
	root.SetErr(cfg.Err)
	pr.Flags(root)
	hubs.Flags(root)
	root.AddCommand(object.Commands(hubs, src, pr)...)
	root.AddCommand(hold.Commands(hubs, src, pr)...)
	root.AddCommand(boot.Commands(hubs, src, pr)...)
	root.AddCommand(group.Commands(hubs, src, pr)...)
	root.AddCommand(site.Commands(hubs, src, pr)...)
	root.AddCommand(audit.Commands(hubs, src, pr)...)
	root.AddCommand(backup.Commands(hubs, cfg.In, pr)...)
	root.AddCommand(webhook.Command(hubs, pr))
	root.AddCommand(login.Commands(hubs, src, pr)...)
	root.AddCommand(agentpackage.Command(cfg.Getenv, hubs, pr))
	root.AddCommand(image.Command(hubs, src, pr), iso.Command(hubs, src, pr), decode.Command(src, pr), convert.Command(src, pr), inventory.Command(hubs, pr), versionCmd(cfg.Version, hubs, pr), support.Command(cfg.Version, hubs, pr), top.Command(hubs, src, pr))
	suggest(root)
	complete(root, hubs)
	return root, pr
}
