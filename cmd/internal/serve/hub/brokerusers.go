package hub

import (
	"io"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
)

// brokerUsers prints who may do what at a broker of the user's own. It is here and not in rackctl because it reads the
// certificates that the hub's file names.
func brokerUsers(config *string, stdout io.Writer) *cobra.Command {
	var check string
	var first bool
	cmd := &cobra.Command{
		Use: "broker-config {nats|mosquitto}", Short: "Print who may do what at a broker of your own, for its configuration",
		Args: cobra.ExactArgs(1), ValidArgs: []string{string(daemon.BrokerNATS), string(daemon.BrokerMosquitto)},
		Long: "Prints the users of a broker of broker.url by their certificates, with what each may publish and subscribe to: for\n" +
			"NATS accounts to be included in nats-server.conf, one of the messages and, where store.nats has a certFile, one of\n" +
			"the store; for Mosquitto its ACL file. It asks the hub, which must run on this host. A revoked agent is not in it,\n" +
			"and the next agent of each rack is before it joins. The same agents make the same file.\n\n" +
			"With --check nothing is printed: the exit code is 0 if FILE is what would be, 4 if it is not, and another one if\n" +
			"nobody knows, as while the hub is away. Replace the file only after 4.",
		Example: "  rackboot-hub broker-config nats >rackboot-accounts.conf\n  rackboot-hub broker-config nats --check /etc/nats/rackboot-accounts.conf",
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := loadAsOwner("broker-config", *config)
			if err != nil {
				return err
			}
			users, err := daemon.BrokerUsers(c.Context(), cfg, daemon.BrokerKind(args[0]), first)
			if err != nil {
				return err
			}
			if check != "" {
				return daemon.CheckBrokerUsers(check, users)
			}
			_, err = stdout.Write(users)
			return err
		},
	}
	cmd.Flags().StringVar(&check, "check", "", "say whether this file is what would be printed")
	cmd.Flags().BoolVar(&first, "first", false, "print the hub alone and ask nobody, for servers that no agent uses yet")
	return cmd
}
