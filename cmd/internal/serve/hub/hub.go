package hub

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/serve"
	"rackboot/hub/daemon"
)

// Main is rackboot-hub; it returns the exit code.
func Main(args []string, version string, stdout, stderr io.Writer) int {
	return serve.Execute(Command(version, stdout, stderr), args, stderr)
}

// Command is rackboot-hub with its commands.
func Command(version string, stdout, stderr io.Writer) *cobra.Command {
	c := serve.Root("rackboot-hub", "Holds what people want of their racks and sends it to the agents", version)
	config := c.PersistentFlags().String("config", "/etc/rackboot/hub.yaml", "the hub's file")
	run := &cobra.Command{Use: "run", Short: "Serve until stopped", Args: cobra.NoArgs}
	log := serve.LogFlags(run, stderr)
	run.RunE = func(c *cobra.Command, _ []string) error {
		// From the first moment on: a signal that nobody waits for ends the process.
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
		l, err := log()
		if err != nil {
			return err
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		if err := serve.CheckOwner("rackboot-hub", cfg.DataDir); err != nil {
			return err
		}
		if err := l.Set(cfg.Log.Level, cfg.Log.Format); err != nil {
			return err
		}
		go saveMemory(c.Context())
		return daemon.Run(c.Context(), cfg, daemon.Options{
			Version: version, Logger: l.Logger, Ready: func() { l.Info("ready") }, Reload: hangup, File: *config,
			Relog: func(to daemon.Logging) {
				if err := l.Set(to.Level, to.Format); err != nil {
					l.Error("the log is written as before", "err", err)
				}
			},
		})
	}
	restored := &cobra.Command{
		Use: "restored", Short: "Make agents accept a hub whose folder was restored from a copy", Args: cobra.NoArgs,
		Long: "Agents refuse documents that are older than what they have. After the hub's folder was restored from a copy, " +
			"run this once while the hub is stopped: it raises the epoch of the documents. Holds that were placed after the " +
			"copy stay enforced at their agents, and the hub takes them over from there. Claims that were made after the " +
			"copy are gone: apply them again.",
	}
	restored.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadAsOwner("restored", *config)
		if err != nil {
			return err
		}
		epoch, err := daemon.RaiseEpoch(c.Context(), cfg)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "epoch %d; start the hub now\n", epoch)
		return err
	}
	c.AddCommand(run, restored, restoreCmd(config, stdout, stderr), migrateCmd(config, stdout), checkCmd(config, stdout), repairCmd(config, stdout), keysCmd(config, stdout), clientCertificate(config, stdout, stderr), brokerUsers(config, stdout))
	return c
}

// loadAsOwner reads the hub's file, and becomes the user whom the hub's folder belongs to: what
// root writes there the hub could not read.
func loadAsOwner(op, config string) (daemon.Config, error) {
	cfg, err := daemon.LoadConfig(config)
	if err == nil {
		err = serve.BecomeOwner(op, cfg.DataDir)
	}
	return cfg, err
}
