package hub

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
)

// migrateCmd moves the store of a hub that does not run.
func migrateCmd(config *string, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use: "migrate {nats|folder}", Short: "Move the store to the NATS servers of store.nats, or back to the hub's folder, while the hub is stopped",
		Args: cobra.ExactArgs(1), ValidArgs: []string{string(daemon.MoveToNATS), string(daemon.MoveToFolder)},
		Long: "Copies all that the hub knows, with its revisions and times, and compares both stores. The hub's file has\n" +
			"store.nats for the move, in either direction. Run it again if it was interrupted: what is whole there already is\n" +
			"compared only. The store that was moved away from stays: that of the folder as store.moved-TIME, that of the\n" +
			"servers as it is, and no hub may use it any more.\n\n" +
			"Uploaded files stay in the folder, and a hub that starts puts them on the servers. On the way back those that\n" +
			"the folder lacks are fetched, and what cannot be is named.",
		Example: "  rackboot-hub migrate nats",
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := loadAsOwner("migrate", *config)
			if err != nil {
				return err
			}
			moved, err := daemon.Migrate(c.Context(), cfg, daemon.Move(args[0]), nil)
			if err != nil {
				return err
			}
			for _, s := range moved.Streams {
				if _, err := fmt.Fprintf(stdout, "%s: %d messages up to %d, the same in both\n", s.Name, s.Messages, s.Last); err != nil {
					return err
				}
			}
			if moved.Brought > 0 {
				if _, err := fmt.Fprintf(stdout, "%d uploaded contents came into the folder\n", moved.Brought); err != nil {
					return err
				}
			}
			for _, l := range moved.Lacking {
				if _, err := fmt.Fprintf(stdout, "not in the folder: %s\n", l); err != nil {
					return err
				}
			}
			last := "start the hub now"
			switch {
			case moved.Aside != "":
				last = "what was in the folder is in " + moved.Aside + " now; start the hub"
			case args[0] == string(daemon.MoveToFolder):
				last = "take store.nats out of the hub's file, and start the hub"
			}
			_, err = fmt.Fprintln(stdout, last)
			return err
		},
	}
}
