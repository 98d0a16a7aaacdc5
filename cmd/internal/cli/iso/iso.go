package iso

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// Command is rackctl iso.
func Command(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "iso", Short: "Upload ISO files and other archives that boot environments name", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(isoUploadCmd(hubs, src, pr), isoListCmd(hubs, pr), isoRemoveCmd(hubs, pr))
	return cmd
}

func isoView() printer.View {
	return printer.View{Columns: printer.Columns("NAME SIZE SHA256 SIGNED-BY BOOTENVS STATE AGE", "UPLOADED-BY", "SERVERS", "CONTENT", "SOURCE")}
}

func isoItem(f api.ISOItem, now time.Time) printer.Item {
	state, signed := "ready", ""
	if f.Missing {
		state = "missing"
	}
	if s := f.Signature; s != nil {
		signed = s.By
		if signed == "" {
			signed = s.Key
		}
	}
	return printer.Item{Value: f, Name: "iso/" + f.File, Cells: []string{
		f.File, printer.Mebibytes(f.Size), printer.ShortDigest(f.Uploaded), signed, strings.Join(f.BootEnvs, ","), state, printer.Age(&f.UploadedAt, now),
		f.UploadedBy, strings.Join(f.Servers, ","), f.Digest, f.Source,
	}}
}

func isoListCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the uploaded files, and the uploads that have not ended", Args: cobra.NoArgs,
		Long: `List the uploaded files, and the uploads that have not ended. SHA256 is of what was uploaded;
CONTENT, with -o wide, is what agents fetch: it differs where a compressed tar was packed again.
SIGNED-BY is whose OpenPGP signature the hub has verified.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			list, err := c.ISOs.List(cmd.Context())
			if err != nil {
				return err
			}
			v, now := isoView(), time.Now()
			for _, f := range list.Items {
				v.Items = append(v.Items, isoItem(f, now))
			}
			for _, u := range list.Uploads {
				pr.Progress("upload of %s (%s) has %s of %s, until %s", u.File, printer.ShortDigest(u.Digest), printer.Mebibytes(u.Offset), printer.Mebibytes(u.Size), printer.Stamp(&u.ExpiresAt))
			}
			return errors.Join(pr.Show(v), list.Incomplete.Err("list files"))
		},
	}
}

func isoRemoveCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var force, upload bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove an uploaded file, or an upload that has not ended", Args: cobra.ExactArgs(1),
		Long: `Remove an uploaded file. One that a boot environment names stays unless --force is given: that
environment cannot be built anew without it, and agents go on with what they have. Its content goes
when no other name has it and no agent is to fetch it any more.

--upload ends the uploads of the name that have not ended, and leaves the file as it is.`,
		Example: "  rackctl iso remove debian-12.5.0-amd64-netinst.iso",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if upload {
				return abortUploads(pr, cmd, c, args[0])
			}
			f, err := c.ISOs.Remove(cmd.Context(), args[0], force)
			if err != nil {
				return err
			}
			return pr.Text(f, []string{"iso/" + f.File}, f.File+" removed")
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also one that boot environments name")
	cmd.Flags().BoolVar(&upload, "upload", false, "end the uploads of this name that have not ended")
	cmd.MarkFlagsMutuallyExclusive("force", "upload")
	return cmd
}

func abortUploads(pr *printer.Printer, cmd *cobra.Command, c *api.Client, name string) error {
	list, err := c.ISOs.List(cmd.Context())
	if err != nil {
		return err
	}
	ended := 0
	for _, u := range list.Uploads {
		if u.File != name {
			continue
		}
		if err := c.Uploads.Abort(cmd.Context(), u.ID); err != nil {
			return err
		}
		pr.Progress("upload of %s (%s) ended", name, printer.ShortDigest(u.Digest))
		ended++
	}
	if ended == 0 {
		return protocol.Errorf(protocol.CodeNotFound, "remove upload", "there is no upload of %q", name).WithHint("rackctl iso list")
	}
	return nil
}
