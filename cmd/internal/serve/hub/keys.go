package hub

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
)

// keysCmd changes the hub's keys. It is here and not in rackctl because no token of
// the API shall be enough to change what all agents trust, and no key ever travels.
func keysCmd(config *string, stdout io.Writer) *cobra.Command {
	keys := &cobra.Command{
		Use: "keys", Short: "Change the hub's keys, while the hub is stopped", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	rotate := &cobra.Command{
		Use: "rotate", Short: "Replace the key that signs documents", Args: cobra.NoArgs,
		Long: "Replace the key that signs documents. The old key signs a statement of the new one, which every agent\n" +
			"follows, also one that is away meanwhile. Stop the hub, run this, start the hub, and back its folder up:\n" +
			"agents refuse a hub that has an older copy of its keys.",
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadAsOwner("keys rotate", *config)
			if err != nil {
				return err
			}
			n, err := daemon.RotateSigning(c.Context(), cfg)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "statement %d of the hub's keys; start the hub, then back its folder up\n", n)
			return err
		},
	}
	var finish, force bool
	ca := &cobra.Command{
		Use: "rotate-ca", Short: "Replace the authority of certificates, in two steps", Args: cobra.NoArgs,
		Long: "Replace the authority of certificates. The first run makes the next authority; start the hub, and agents\n" +
			"learn to trust it within minutes. The second run, with --finish, has it sign. Run both while the hub is stopped.\n" +
			"rackctl and join commands with --ca need the new ca.pem after the second run.",
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadAsOwner("keys rotate-ca", *config)
			if err != nil {
				return err
			}
			if err := daemon.RotateCA(c.Context(), cfg, finish, force); err != nil {
				return err
			}
			text := "the next authority is there; start the hub, and run this again with --finish when all agents have it"
			if finish {
				text = "the next authority signs from now on; start the hub, give people its ca.pem, and back its folder up"
			}
			_, err = fmt.Fprintln(stdout, text)
			return err
		},
	}
	ca.Flags().BoolVar(&finish, "finish", false, "have the next authority sign")
	ca.Flags().BoolVar(&force, "force", false, "also if agents do not trust it yet: they must join anew")
	keys.AddCommand(rotate, ca)
	return keys
}
