package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
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

// app is one run.
type app struct {
	cfg     Config
	context string // --context
	print   printer
}

// Run runs rackctl and returns its exit code; see protocol.Code.ExitCode, and
// fenceCmd and rolloutStatusCmd for those of their own.
// Results go to Out, everything else to Err.
func Run(ctx context.Context, cfg Config) int {
	root := Command(cfg)
	root.SetArgs(cfg.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if list, ok := errors.AsType[manifest.Errors](err); ok {
		fmt.Fprintln(cfg.Err, list.Error())
		err = protocol.Errorf(protocol.CodeInvalid, "", "nothing was changed: %s in the manifests", plural(len(list), "error"))
	}
	own, isOwn := errors.AsType[*ownExit](err)
	if isOwn {
		err = own.error
	}
	if _, ok := errors.AsType[*protocol.Error](err); !ok { // of cobra: unknown command or flag, wrong arguments
		err = protocol.Errorf(protocol.CodeInvalid, "", "%w", err).WithHint("rackctl --help lists the commands")
	}
	fmt.Fprintf(cfg.Err, "rackctl: %s\n", err)
	if hint := protocol.HintOf(err); hint != "" {
		fmt.Fprintf(cfg.Err, "hint: %s\n", hint)
	}
	if isOwn {
		return own.exit
	}
	return protocol.CodeOf(err).ExitCode()
}

// Command is rackctl with its commands.
func Command(cfg Config) *cobra.Command {
	a := &app{cfg: cfg, print: printer{out: cfg.Out}}
	return a.root()
}

// ownExit is an error with an exit code that only its command has.
type ownExit struct {
	error
	exit int
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rackctl",
		Short: "Say what bare-metal servers boot, hold them off, and see what happened",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.print.check()
		},
		Version:       a.cfg.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.cfg.In)
	root.SetOut(a.cfg.Out)
	root.SetErr(a.cfg.Err)
	root.PersistentFlags().StringVarP(&a.print.form, "output", "o", formTable, "table, wide, json, yaml or name")
	root.PersistentFlags().StringVar(&a.context, "context", "", "the hub to talk to (default: the one that config use-context chose)")
	root.AddCommand(
		a.initCmd(), a.applyCmd(), a.getCmd(), a.describeCmd(), a.deleteCmd(),
		a.holdCmd(), a.fenceCmd(), a.releaseCmd(), a.confirmDownCmd(), a.receiptCmd(), a.rebootCmd(), a.resumeCmd(), a.powerOffCmd(), a.waitCmd(),
		a.approveCmd(), a.keyCmd(), a.rackCmd(), a.bmcCmd(), a.serverCmd(), a.maintenanceCmd(), a.bootEnvCmd(), a.secretCmd(), a.isoCmd(), a.imageCmd(), a.groupCmd(), a.rolloutCmd(), a.doctorCmd(), a.ignitionCmd(), a.bootCertCmd(), a.probeCmd(),
		a.traceCmd(), a.eventsCmd(), a.auditCmd(), a.exportCmd(), a.importCmd(), a.explainCmd(), a.wireCmd(),
		a.loginCmd(), a.whoamiCmd(), a.configCmd(), a.versionCmd(),
	)
	return root
}

// client talks to the hub of the chosen context.
func (a *app) client() (*api.Client, hubContext, error) {
	hub, err := a.chosenContext()
	if err != nil {
		return nil, hubContext{}, err
	}
	c, err := hub.client()
	return c, hub, err
}

// chosenContext is the hub that --context or context use chose.
func (a *app) chosenContext() (hubContext, error) {
	file, err := a.loadContexts()
	if err != nil {
		return hubContext{}, err
	}
	return file.pick(a.context)
}

func (a *app) configPath() (string, error) {
	if p := a.cfg.Getenv("RACKCTL_CONFIG"); p != "" {
		return p, nil
	}
	if d := a.cfg.Getenv("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "rackctl", "config.yaml"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, "find config", "%w", err).WithHint("set RACKCTL_CONFIG")
	}
	return filepath.Join(home, ".config", "rackctl", "config.yaml"), nil
}

func (a *app) progress(format string, args ...any) { fmt.Fprintf(a.cfg.Err, format+"\n", args...) }
