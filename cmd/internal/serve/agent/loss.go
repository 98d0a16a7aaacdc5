package agent

import (
	"fmt"
	"io"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"rackboot/agent/daemon"
	"rackboot/cmd/internal/serve"
)

func acceptLoss(config *string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "accept-loss", Short: "Say that this agent's database is lost, so that it begins a new one", Args: cobra.NoArgs,
		Long: "Say that this agent's database is lost, so that it begins a new one. An agent whose database cannot\n" +
			"be opened, or is not the one that it had, is in guard mode until it has its own again. If there is no copy to\n" +
			"put back, this ends the guard mode: the old database is moved aside, what was held by it is known only by\n" +
			"what the hub and people say, and holds that were placed at the agent are gone. Where nothing is lost it does\n" +
			"nothing.",
	}
	reason := c.Flags().String("reason", "", "how it was lost; goes into the events")
	c.RunE = func(*cobra.Command, []string) error {
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		by := caller()
		if err := serve.BecomeOwner("accept-loss", cfg.DataDir); err != nil {
			return err
		}
		if err := daemon.AcceptLoss(cfg, by, *reason); err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, "the agent takes this within seconds if it runs, else when it is started; rackboot-agent status shows whether it is in guard mode")
		return err
	}
	return c
}

// caller is who runs the command, as far as the system says.
func caller() string {
	if name := os.Getenv("SUDO_USER"); name != "" {
		return name
	}
	u, err := user.Current()
	if err != nil {
		return fmt.Sprint("user ", os.Getuid())
	}
	return u.Username
}
