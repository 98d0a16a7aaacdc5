package hub

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/depots"
	"rackboot/hub/daemon"
)

// restoreCmd makes the hub's folder of a backup. It does not become the user whom the folder belongs
// to, as the other commands do: that one may not write beside it.
func restoreCmd(config *string, stdout, stderr io.Writer) *cobra.Command {
	var buckets depots.Buckets
	var keys depots.Keys
	r := daemon.Restoring{}
	cmd := &cobra.Command{
		Use: "restore BACKUP", Short: "Make the hub's folder of a backup, while the hub is stopped", Args: cobra.ExactArgs(1),
		Long: "Makes dataDir of a backup: a file, - for standard input, or s3://bucket/prefix/NAME; of a folder, and of a URL\n" +
			"that ends with a slash, the newest. All of it is verified before anything is written, and takes its place in\n" +
			"one step: whoever kills it leaves the folder that was there, or the new one. Agents follow the hub then, as\n" +
			"after rackboot-hub restored: holds that were placed after the backup are taken over from them.\n\n" +
			"The folder must be empty, or with --replace it is moved aside, to NAME.before-TIME.",
		Example: "  rackboot-hub restore --replace /srv/backups --identity /root/backup.key",
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := daemon.LoadConfig(*config)
			if err != nil {
				return err
			}
			if r.Keys, err = keys.Read(); err != nil {
				return err
			}
			in, name, err := buckets.Open(c.Context(), args[0], os.Stdin)
			if err != nil {
				return err
			}
			defer in.Close()
			r.Open = func() (io.ReadCloser, error) { return os.Open(name) }
			if _, local := in.(*os.File); !local { // which is read once
				var remove func()
				if r.Open, remove, err = daemon.Spool(cfg, in); err != nil {
					return err
				}
				defer remove()
			}
			got, err := daemon.Restore(c.Context(), cfg, r)
			if err != nil {
				return err
			}
			if got.Aside != "" {
				_, _ = fmt.Fprintf(stderr, "what was there is in %s now\n", got.Aside) // nowhere else to say it
			}
			for _, dir := range got.Misplaced {
				_, _ = fmt.Fprintf(stderr, "%s is elsewhere by the hub's file: move it there\n", dir) // likewise
			}
			if len(got.Manifest.Without) > 0 {
				_, _ = fmt.Fprintf(stderr, "not in the backup: %s\n", strings.Join(got.Manifest.Without, "; ")) // likewise
			}
			_, err = fmt.Fprintf(stdout, "%s of %s is restored; epoch %d; start the hub now\n", name, got.Manifest.Made.Format("2006-01-02T15:04:05Z"), got.Epoch)
			return err
		},
	}
	cmd.Flags().BoolVar(&r.Replace, "replace", false, "move what is there aside")
	keys.Flags(cmd.Flags())
	buckets.Flags(cmd.Flags())
	return cmd
}
