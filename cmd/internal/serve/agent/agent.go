package agent

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"rackboot/agent/daemon"
	"rackboot/agent/installed"
	"rackboot/cmd/internal/serve"
	"rackboot/protocol"
)

// Main is rackboot-agent; it returns the exit code.
func Main(args []string, version string, stdout, stderr io.Writer) int {
	return serve.Execute(Command(version, stdout, stderr), args, stderr)
}

// Command is rackboot-agent with its commands.
func Command(version string, stdout, stderr io.Writer) *cobra.Command {
	c := serve.Root("rackboot-agent", "Serves one rack: its BMCs, its boots and its holds", version)
	config := c.PersistentFlags().String("config", "/etc/rackboot/agent.yaml", "the agent's file")
	c.AddCommand(run(config, version, stderr), join(config, stdout), check(config, stdout), acceptLoss(config, stdout), localHolds(config, stdout))
	c.AddCommand(localCommands(config, stdout)...)
	return c
}

func run(config *string, version string, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "run", Short: "Serve until stopped", Args: cobra.NoArgs}
	log := serve.LogFlags(c, stderr)
	c.RunE = func(c *cobra.Command, _ []string) error {
		l, err := log()
		if err != nil {
			return err
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		if err := serve.CheckOwner("rackboot-agent", cfg.DataDir); err != nil {
			return err
		}
		launched, err := launcher(l.Logger)
		if err != nil {
			return err
		}
		saveMemory()
		err = daemon.Run(c.Context(), cfg, daemon.Options{Version: version, Logger: l.Logger, Launched: launched, Ready: func() { l.Info("ready") }})
		if daemon.Tries(err) {
			return serve.Exit(installed.ExitUpgrade)
		}
		return err
	}
	return c
}

// launcher takes the word of the launcher that started this process; nil is none.
func launcher(log *slog.Logger) (*installed.Launched, error) {
	word, is, err := installed.Receive(os.Getenv)
	if err != nil || !is {
		return nil, err
	}
	log.Info("started by a launcher", "place", word.Place, "digest", word.Digest, "order", word.Order)
	return &word, os.Unsetenv(installed.Variable) // it is of no use to what this process starts
}

func join(config *string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "join", Short: "Join a hub with a one-time token", Args: cobra.NoArgs,
		Long: "Join a hub with a one-time token: make the agent's keys, and keep them with what the hub answers\n" +
			"in the agent's folder. As root it is done as the user whom the folder belongs to, as that of the\n" +
			"agent's unit, so that the agent can read them.",
	}
	hub := c.Flags().String("hub", "", "URL of the hub's API")
	token := c.Flags().String("token", "", "one-time token; - reads it from standard input (default: $RACKBOOT_JOIN_TOKEN)")
	ca := c.Flags().String("ca", "", "file with the hub's CA (PEM), for a token that names no certificate")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *token == "" {
			*token = os.Getenv("RACKBOOT_JOIN_TOKEN")
		}
		if *hub == "" || *token == "" {
			return protocol.Errorf(protocol.CodeInvalid, "join", "--hub and a token are needed").
				WithHint("rackctl rack join-token RACK, where rackctl has logged in, prints the command with both")
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		var pem []byte
		if *ca != "" {
			if pem, err = os.ReadFile(*ca); err != nil {
				return protocol.Errorf(protocol.CodeInvalid, "read --ca", "%w", err)
			}
		}
		if *token == "-" {
			raw := ""
			if _, err := fmt.Fscan(c.InOrStdin(), &raw); err != nil {
				return protocol.Errorf(protocol.CodeInvalid, "read the token", "%w", err)
			}
			*token = raw
		}
		if err := serve.BecomeOwner("join", cfg.DataDir); err != nil {
			return err
		}
		agent, err := daemon.Join(c.Context(), cfg, *hub, *token, pem)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "joined as agent %s\n", agent)
		return err
	}
	return c
}
