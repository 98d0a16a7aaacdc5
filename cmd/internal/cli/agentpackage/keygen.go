package agentpackage

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/keypair"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/wire"
)

func keygenCmd(pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "keygen FILE", Short: "Make a publisher's key: FILE and FILE.pub", Args: cobra.ExactArgs(1),
		Long: "Make a publisher's key: FILE, readable by you only, and its public half FILE.pub. Nothing is sent\n" +
			"anywhere, and neither file is written over. Give FILE.pub to each agent (upgrade.keys in agent.yaml).\n" +
			"Keep FILE where releases are built, and off the hub's host: whoever has it and the hub replaces the\n" +
			"program of every such agent.",
		Example: "  rackctl agent-package keygen /media/usb/publisher.pem",
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := keypair.Make(args[0])
			if err != nil {
				return err
			}
			return pr.Text(map[string]string{"file": args[0], "public": args[0] + ".pub", "keyId": hex.EncodeToString(wire.KeyID(public))},
				[]string{args[0]}, fmt.Sprintf("%s and %s.pub made, key %x", args[0], args[0], wire.KeyID(public)))
		},
	}
}
