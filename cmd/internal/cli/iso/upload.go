package iso

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/fetch"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// isoUpload is what the flags of an upload say.
type isoUpload struct {
	name, env, arch, sum, signature, keyring string
	replace                                  bool
}

func isoUploadCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var u isoUpload
	cmd := &cobra.Command{
		Use: "upload [FILE|URL]", Short: "Upload an ISO file or another archive", Args: cobra.MaximumNArgs(1),
		Long: `Upload an ISO file, or a zip or tar archive, that boot environments name. Agents read it in
place; a compressed tar is packed again at the hub, once.

A URL is downloaded here, and then uploaded. --from-bootenv takes name, checksum and URL from a boot
environment; with FILE it takes the content from there. What was interrupted, download and upload,
goes on where it was when the same command is given again.

The SHA-256 is compared with --sha256 and with what boot environments say of the file. A detached
OpenPGP signature (--signature) is verified by the hub before the file gets its name: with the keys
of the hub's file, or if it has none, with those of --keyring.`,
		Example: `  rackctl iso upload debian-12.5.0-amd64-netinst.iso
  rackctl iso upload --from-bootenv debian-12
  rackctl iso upload https://mirror.example.com/os.iso --sha256 6bbc… --signature os.iso.asc --keyring os-keys.asc`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			from := ""
			if len(args) == 1 {
				from = args[0]
			}
			return uploadISO(cmd.Context(), src, pr, c, u, from)
		},
	}
	cmd.Flags().StringVar(&u.name, "name", "", "name of the file at the hub (default: that of FILE or URL, or the boot environment's)")
	cmd.Flags().StringVar(&u.env, "from-bootenv", "", "take name, checksum and URL from this boot environment")
	cmd.Flags().StringVar(&u.arch, "arch", "", "architecture of the boot environment that is meant, where it has several")
	cmd.Flags().StringVar(&u.sum, "sha256", "", "the SHA-256 that the file must have, 64 hex digits")
	cmd.Flags().StringVar(&u.signature, "signature", "", "file with a detached OpenPGP signature of the file")
	cmd.Flags().StringVar(&u.keyring, "keyring", "", "file with the public keys that the signature may be of")
	cmd.Flags().BoolVar(&u.replace, "replace", false, "take the place of another file of the name")
	return cmd
}

// uploadISO uploads a file, a URL, or what a boot environment names.
func uploadISO(ctx context.Context, src *files.Input, pr *printer.Printer, c *api.Client, u isoUpload, from string) error {
	req := api.ISOUploadRequest{Replace: u.replace}
	if err := u.signed(&req); err != nil {
		return err
	}
	if u.env != "" {
		env, err := api.Get[*resource.BootEnv](ctx, c, u.env)
		if err != nil {
			return err
		}
		if from, err = u.fromEnv(env, from); err != nil {
			return err
		}
	}
	sum, err := wantedSum(u.sum)
	if err != nil {
		return err
	}
	if from == "" {
		return protocol.Errorf(protocol.CodeInvalid, "upload file", "there is nothing to upload").WithHint("give a file or a URL, or --from-bootenv NAME")
	}
	file, cached := from, ""
	if remote, err := url.Parse(from); err == nil && (remote.Scheme == "https" || remote.Scheme == "http") {
		req.File = cmp.Or(u.name, path.Base(remote.Path))
		req.Source = fetch.BareURL(remote)
		if err := api.CheckISOFile(req.File); err != nil { // before gigabytes are downloaded
			return err
		}
		if file, err = fetch.File(ctx, src, pr, remote, sum); err != nil {
			return err
		}
		cached = file
	} else {
		req.File = cmp.Or(u.name, filepath.Base(from))
		if err := api.CheckISOFile(req.File); err != nil { // and before they are read
			return err
		}
	}
	f, err := os.Open(file)
	if err != nil {
		return protocol.Errorf(protocol.CodeNotFound, "upload file", "%w", err)
	}
	defer f.Close()
	if req.Digest, req.Size, err = digest(pr, f, req.File, sum); err != nil {
		return err
	}
	out, err := send(ctx, pr, c, f, req)
	if err != nil {
		return err
	}
	if cached != "" {
		if err := fetch.Remove(cached); err != nil {
			pr.Progress("%s is left: %s", cached, err)
		}
	}
	v := isoView()
	v.Items, v.Single = []printer.Item{isoItem(out, time.Now())}, true
	return pr.Show(v)
}

// signed reads signature and keyring.
func (u *isoUpload) signed(req *api.ISOUploadRequest) (err error) {
	if req.Signature, err = files.Bounded("--signature", u.signature, api.MaxISOSignature); err != nil {
		return err
	}
	if len(req.Signature) > 0 {
		req.Scheme = resource.SignatureOpenPGP
	}
	req.Keyring, err = files.Bounded("--keyring", u.keyring, api.MaxISOKeyring)
	return err
}

// fromEnv takes from a boot environment what the flags do not say (facts of
// dr-provision: the entry of the architecture if there is one, else for amd64 the fields of the
// operating system).
func (u *isoUpload) fromEnv(env *resource.BootEnv, from string) (string, error) {
	const op = "read boot environment"
	arch, err := u.archOf(env)
	if err != nil {
		return "", err
	}
	info, ok := env.Spec.OS.SupportedArchitectures[arch]
	if !ok && arch == "amd64" {
		info = resource.EnvArch{IsoFile: env.Spec.OS.IsoFile, Sha256: env.Spec.OS.IsoSha256, IsoURL: env.Spec.OS.IsoURL}
	}
	name := env.Metadata.Name
	switch {
	case info.IsoFile == "":
		return "", protocol.Errorf(protocol.CodeInvalid, op, "BootEnv %s names no isoFile for %s", name, arch).WithHint("rackctl describe bootenv %s", name)
	case from == "" && info.IsoURL == "":
		return "", protocol.Errorf(protocol.CodeInvalid, op, "BootEnv %s names no isoUrl for %s", name, arch).
			WithHint("get %s yourself, then: rackctl iso upload FILE --from-bootenv %s", info.IsoFile, name)
	case u.sum != "" && info.Sha256 != "" && !strings.EqualFold(u.sum, info.Sha256):
		return "", protocol.Errorf(protocol.CodeInvalid, op, "BootEnv %s says the SHA-256 %s, and --sha256 is %s", name, info.Sha256, u.sum).WithHint("give one of the two; the environment is of another release")
	}
	if u.name == "" {
		u.name = info.IsoFile
	}
	if u.sum == "" {
		u.sum = info.Sha256
	}
	if from == "" {
		from = info.IsoURL
	}
	return from, nil
}

// archOf is the architecture that is meant.
func (u *isoUpload) archOf(env *resource.BootEnv) (string, error) {
	var have []string
	for arch := range env.Spec.OS.SupportedArchitectures {
		have = append(have, arch)
	}
	if env.Spec.OS.IsoFile != "" && !slices.Contains(have, "amd64") {
		have = append(have, "amd64")
	}
	slices.Sort(have)
	switch {
	case u.arch != "" && slices.Contains(have, u.arch):
		return u.arch, nil
	case u.arch == "" && len(have) == 1:
		return have[0], nil
	}
	return "", protocol.Errorf(protocol.CodeInvalid, "read boot environment", "BootEnv %s is for %s", env.Metadata.Name, printer.Dash(strings.Join(have, ", "))).
		WithHint("say with --arch which is meant")
}

// wantedSum is the digest of --sha256; empty for none.
func wantedSum(sum string) (string, error) {
	if sum == "" {
		return "", nil
	}
	d := "sha256:" + strings.ToLower(strings.TrimPrefix(sum, "sha256:"))
	if !api.ValidDigest(d) {
		return "", protocol.Errorf(protocol.CodeInvalid, "upload file", "%.100q is no SHA-256", sum).WithHint("give its 64 hex digits")
	}
	return d, nil
}

// digest reads the whole file; the hub is told its digest before its content.
func digest(pr *printer.Printer, f *os.File, name, want string) (digest string, size int64, err error) {
	const op = "read file"
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, protocol.Errorf(protocol.CodeInvalid, op, "%s is no ordinary file", f.Name()).WithHint("write it to a file first: what is interrupted could not go on otherwise")
	}
	b := pr.NewBar("reading "+name, 0, info.Size())
	defer b.End()
	h := sha256.New()
	if size, err = io.Copy(h, b.Reader(io.NewSectionReader(f, 0, info.Size()), 0)); err != nil {
		return "", 0, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	if want != "" && digest != want {
		return "", 0, protocol.Errorf(protocol.CodeInvalid, op, "%s has %s, not %s", f.Name(), digest, want).
			WithHint("it is another release, or was damaged; nothing was uploaded")
	}
	return digest, size, nil
}
