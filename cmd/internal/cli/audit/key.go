package audit

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/keypair"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/wire"
)

func keyCmd(pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Make the key that approves destructive actions", Args: cobra.NoArgs}
	cmd.AddCommand(&cobra.Command{
		Use: "make-destructive FILE", Short: "Make a destructive key: FILE and FILE.pub", Args: cobra.ExactArgs(1),
		Long: "Make a destructive key: FILE, readable by you only, and its public half FILE.pub. Nothing is\n" +
			"sent anywhere, and neither file is written over. Give FILE.pub to the hub (destructiveKey.public\n" +
			"in hub.yaml) and, where the hub is not to be trusted with it, to each agent (destructiveKey in\n" +
			"agent.yaml). Keep FILE where the hub is not: whoever has it and the hub can stop whole racks.",
		Example: "  rackctl key make-destructive /media/usb/destructive.pem",
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := keypair.Make(args[0])
			if err != nil {
				return err
			}
			return pr.Text(map[string]string{"file": args[0], "public": args[0] + ".pub", "keyId": hex.EncodeToString(wire.KeyID(public))},
				[]string{args[0]}, fmt.Sprintf("%s and %s.pub made, key %x", args[0], args[0], wire.KeyID(public)))
		},
	})
	return cmd
}
