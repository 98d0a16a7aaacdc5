package hub

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
	"rackboot/protocol"
)

// clientCertificate signs a certificate for a client of the API.
func clientCertificate(config *string, stdout, stderr io.Writer) *cobra.Command {
	days := 365
	cmd := &cobra.Command{
		Use: "client-certificate NAME REQUEST", Short: "Sign a certificate with which a client uses the API", Args: cobra.ExactArgs(2),
		Long: "Writes the certificate for the request in the file REQUEST (PEM), signed by the hub's own authority. Only the key is " +
			"taken from the request. The hub lets it in if clients of its file name the common name, which is printed. The key " +
			"stays with the client:\n\n" +
			"  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ha.key -subj /CN=ha -out ha.csr",
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := daemon.LoadConfig(*config)
			if err != nil {
				return err
			}
			csr, err := os.ReadFile(args[1])
			if err != nil {
				return protocol.Errorf(protocol.CodeInvalid, "read the request", "%w", err).WithHint("openssl req makes one, see --help")
			}
			cert, commonName, err := daemon.ClientCertificate(cfg, args[0], csr, time.Duration(days)*24*time.Hour)
			if err != nil {
				return err
			}
			if _, err := stdout.Write(cert); err != nil {
				return err
			}
			_, err = fmt.Fprintf(stderr, "in clients of the hub's file: certificate: {commonName: %s}\n", commonName)
			return err
		},
	}
	cmd.Flags().IntVar(&days, "days", days, "how long it is valid, at most 400")
	return cmd
}
