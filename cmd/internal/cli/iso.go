package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

func (a *app) isoCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "iso", Short: "Upload ISO files and other archives that boot environments name", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.isoUploadCmd(), a.isoListCmd(), a.isoRemoveCmd())
	return cmd
}

func isoView() view {
	return view{columns: columns("NAME SIZE SHA256 SIGNED-BY BOOTENVS STATE AGE", "UPLOADED-BY", "SERVERS", "CONTENT", "SOURCE")}
}

func isoItem(f api.ISOItem, now time.Time) item {
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
	return item{value: f, name: "iso/" + f.File, cells: []string{
		f.File, mebibytes(f.Size), shortDigest(f.Uploaded), signed, strings.Join(f.BootEnvs, ","), state, age(&f.UploadedAt, now),
		f.UploadedBy, strings.Join(f.Servers, ","), f.Digest, f.Source,
	}}
}

// shortDigest is enough of a digest to tell it from others.
func shortDigest(d string) string {
	d = strings.TrimPrefix(d, "sha256:")
	return d[:min(len(d), 12)]
}

func (a *app) isoListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the uploaded files, and the uploads that have not ended", Args: cobra.NoArgs,
		Long: `List the uploaded files, and the uploads that have not ended. SHA256 is of what was uploaded;
CONTENT, with -o wide, is what agents fetch: it differs where a compressed tar was packed again.
SIGNED-BY is whose OpenPGP signature the hub has verified.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.ISOs(cmd.Context())
			if err != nil {
				return err
			}
			v, now := isoView(), time.Now()
			for _, f := range list.Items {
				v.items = append(v.items, isoItem(f, now))
			}
			for _, u := range list.Uploads {
				a.progress("upload of %s (%s) has %s of %s, until %s", u.File, shortDigest(u.Digest), mebibytes(u.Offset), mebibytes(u.Size), stamp(&u.ExpiresAt))
			}
			return a.print.show(v)
		},
	}
}

func (a *app) isoRemoveCmd() *cobra.Command {
	var force, upload bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove an uploaded file, or an upload that has not ended", Args: cobra.ExactArgs(1),
		Long: `Remove an uploaded file. One that a boot environment names stays unless --force is given: that
environment cannot be built anew without it, and agents go on with what they have. Its content goes
when no other name has it and no agent is to fetch it any more.

--upload ends the uploads of the name that have not ended, and leaves the file as it is.`,
		Example: "  rackctl iso remove debian-12.5.0-amd64-netinst.iso",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			if upload {
				return a.abortUploads(cmd, c, args[0])
			}
			f, err := c.RemoveISO(cmd.Context(), args[0], force)
			if err != nil {
				return err
			}
			return a.print.text(f, []string{"iso/" + f.File}, f.File+" removed")
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also one that boot environments name")
	cmd.Flags().BoolVar(&upload, "upload", false, "end the uploads of this name that have not ended")
	cmd.MarkFlagsMutuallyExclusive("force", "upload")
	return cmd
}

func (a *app) abortUploads(cmd *cobra.Command, c *api.Client, name string) error {
	list, err := c.ISOs(cmd.Context())
	if err != nil {
		return err
	}
	ended := 0
	for _, u := range list.Uploads {
		if u.File != name {
			continue
		}
		if err := c.AbortISO(cmd.Context(), u.ID); err != nil {
			return err
		}
		a.progress("upload of %s (%s) ended", name, shortDigest(u.Digest))
		ended++
	}
	if ended == 0 {
		return protocol.Errorf(protocol.CodeNotFound, "remove upload", "there is no upload of %q", name).WithHint("rackctl iso list")
	}
	return nil
}
