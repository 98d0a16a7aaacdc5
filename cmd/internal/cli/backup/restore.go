package backup

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/depots"
	"rackboot/protocol"
)

// hubProgram restores; rackctl has no store.
const hubProgram = "rackboot-hub"

func restoreCmd(stdin io.Reader, pr *printer.Printer) *cobra.Command {
	var buckets depots.Buckets
	var keys depots.Keys
	config := ""
	cmd := &cobra.Command{
		Use: "restore BACKUP", Short: "Have a backup take the hub's place, on the hub's host and while the hub is stopped", Args: cobra.ExactArgs(1),
		Long: `Verify a backup and run rackboot-hub restore with it, on the hub's host and while the hub is stopped:
nobody can have a running hub replaced from elsewhere. BACKUP is as of backup verify. On another host the
backup is verified, and the command to run is said.`,
		Example: "  systemctl stop rackboot-hub\n  rackctl restore --replace /srv/backups --identity /root/backup.key\n  systemctl start rackboot-hub",
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "restore"
			if args[0] != "-" { // which is read once, by the hub's program
				open, err := keys.Read()
				if err != nil {
					return err
				}
				r, name, err := buckets.Open(cmd.Context(), args[0], stdin)
				if err != nil {
					return err
				}
				_, m, err := verify(r, open)
				_ = r.Close() // read to its end, or an error was found
				if err != nil {
					return err
				}
				pr.Progress("%s is verified: %s", name, how(m))
			}
			run := []string{op, args[0]}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if cmd.InheritedFlags().Lookup(f.Name) == nil && f.Name != "hub-config" { // which are rackctl's own
					run = append(run, "--"+f.Name+"="+f.Value.String())
				}
			})
			program, err := exec.LookPath(hubProgram)
			if err == nil {
				_, err = os.Stat(config)
			}
			if err != nil {
				return protocol.Errorf(protocol.CodeUnsupported, op, "this is not the hub's host: %w", err).
					WithHint("on the hub's host, with the hub stopped: %s %s", hubProgram, strings.Join(run, " "))
			}
			hub := exec.CommandContext(cmd.Context(), program, append(run, "--config="+config)...)
			hub.Stdin, hub.Stdout, hub.Stderr = stdin, pr.Out, pr.Err
			err = hub.Run()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return printer.WithExit(protocol.Errorf(protocol.CodeInternal, op, "%s ended with code %d", hubProgram, exit.ExitCode()).WithHint("see what it says above"), exit.ExitCode())
			}
			if err != nil {
				return protocol.Errorf(protocol.CodeUnavailable, op, "run %s: %w", program, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&config, "hub-config", "/etc/rackboot/hub.yaml", "the hub's file")
	cmd.Flags().Bool("replace", false, "move what is in dataDir aside")
	keys.Flags(cmd.Flags())
	buckets.Flags(cmd.Flags())
	return cmd
}
