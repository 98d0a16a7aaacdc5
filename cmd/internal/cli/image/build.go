package image

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/netboot/image"
	"rackboot/protocol"
)

// partFlags name the files of an image for one architecture.
func partFlags(cmd *cobra.Command, p *image.Parts) {
	f := cmd.Flags()
	f.StringVar(&p.Architecture, "arch", "amd64", "architecture of the files: amd64 or arm64")
	f.StringVar(&p.UKI, "uki", "", "unified kernel image: kernel, initramfs and command line in one EFI program")
	f.StringVar(&p.Kernel, "kernel", "", "kernel; needs --initramfs")
	f.StringVar(&p.Initramfs, "initramfs", "", "initramfs of --kernel")
	f.StringVar(&p.CommandLine, "command-line", "", "the kernel's command line, of --kernel")
	f.StringVar(&p.Squashfs, "squashfs", "", "root file system, where the initramfs fetches one")
	f.StringVar(&p.ISO, "iso", "", "ISO image, for virtual media")
}

func imageBuildCmd(pr *printer.Printer) *cobra.Command {
	var p image.Parts
	cmd := &cobra.Command{
		Use: "build DIR", Short: "Make a boot image of files, as an OCI image layout", Args: cobra.ExactArgs(1),
		Long: "Make a boot image of files, as an OCI image layout in the folder DIR. No hub and no registry is asked.\n" +
			"What servers could not boot is refused: each file must be what its flag says, for the architecture.\n" +
			"A second call with another --arch adds that architecture; one with the same takes its place.",
		Example: "  rackctl image build os --uki os-amd64.efi\n  rackctl image build os --arch arm64 --kernel Image --initramfs initrd.img --command-line console=ttyAMA0\n  rackctl image push registry.example/os:1 --from os",
		RunE: func(_ *cobra.Command, args []string) error {
			x, err := image.Build(args[0], p)
			if err != nil {
				return err
			}
			return showDigests(pr, x, "", args[0])
		},
	}
	partFlags(cmd, &p)
	return cmd
}

// pushFlags say what is pushed, and how the registry is reached.
type pushFlags struct {
	parts             image.Parts
	from, ca, account string
	plain             bool
}

func imagePushCmd(pr *printer.Printer) *cobra.Command {
	var f pushFlags
	cmd := &cobra.Command{
		Use: "push REFERENCE", Short: "Put a boot image into a registry", Args: cobra.ExactArgs(1),
		Long: "Put a boot image into a registry: files, or the folder that rackctl image build wrote. What the\n" +
			"registry has already is not sent again. The digests that are printed are those that claims and\n" +
			"events show. The account's file has the lines username: and password:, or the line token:.",
		Example: "  rackctl image push registry.example/os:1 --uki os.efi\n  rackctl image push registry.example/os:1 --from os --account registry.account",
		RunE: func(cmd *cobra.Command, args []string) error {
			return pushImage(cmd.Context(), pr, args[0], f)
		},
	}
	partFlags(cmd, &f.parts)
	cmd.Flags().StringVar(&f.from, "from", "", "folder that rackctl image build wrote, or another OCI image layout")
	cmd.Flags().StringVar(&f.account, "account", "", "file with the registry's account")
	cmd.Flags().StringVar(&f.ca, "ca", "", "PEM file with CAs that are trusted besides the system's")
	cmd.Flags().BoolVar(&f.plain, "plain-http", false, "speak to the registry without TLS; one at a loopback address always may be")
	return cmd
}

func pushImage(ctx context.Context, pr *printer.Printer, reference string, f pushFlags) error {
	const op = "push image"
	files := f.parts
	files.Architecture = ""
	if given := files != (image.Parts{}); given == (f.from != "") {
		return protocol.Errorf(protocol.CodeInvalid, op, "either files or --from is needed").WithHint("rackctl image push %s --uki FILE", reference)
	}
	options, err := f.options(reference)
	if err != nil {
		return err
	}
	var x *image.Index
	if f.from != "" {
		x, err = image.Open(f.from)
	} else {
		x, err = image.New(f.parts)
	}
	if err != nil {
		return err
	}
	b := pr.NewBar("pushing "+reference, 0, 0)
	digest, err := x.Push(ctx, reference, options, func(done, total int64) {
		b.Total = total
		b.Set(done)
	})
	b.End()
	if err != nil {
		return err
	}
	return showDigests(pr, x, digest, reference)
}

func (f pushFlags) options(reference string) (o image.Options, err error) {
	host, _, _ := strings.Cut(reference, "/")
	if f.plain {
		o.PlainHTTP = []string{host}
	}
	if o.CA, err = files.Bounded("--ca", f.ca, 1<<20); err != nil {
		return o, err
	}
	raw, err := files.Bounded("--account", f.account, 64<<10)
	if err != nil || len(raw) == 0 {
		return o, err
	}
	account, err := registryAccount(f.account, raw)
	if err != nil {
		return o, err
	}
	o.Accounts = func(_ context.Context, asked string) (image.Account, error) {
		if asked != host {
			return image.Account{}, nil
		}
		return account, nil
	}
	return o, nil
}

// registryAccount reads an account in the form that agents read theirs.
func registryAccount(file string, raw []byte) (image.Account, error) {
	var v struct {
		Username string `yaml:"username"`
		Password string `yaml:"password"`
		Token    string `yaml:"token"`
	}
	// The parser's error is not passed on: it would quote the file.
	err := manifest.Unmarshal(raw, &v)
	if byName := v.Username != "" && v.Password != ""; err != nil || byName == (v.Token != "") {
		return image.Account{}, protocol.Errorf(protocol.CodeInvalid, "read --account", "%s has neither the lines username: and password: nor the line token:", file).
			WithHint("write one of them, and nothing else")
	}
	return image.Account{Username: v.Username, Password: v.Password, Token: v.Token}, nil
}

// imageDigest is what was built or pushed for one architecture.
type imageDigest struct {
	Image        string `json:"image"` // reference or folder
	Architecture string `json:"architecture"`
	Digest       string `json:"digest"`
	Index        string `json:"index,omitempty"` // digest of the index that was pushed
}

func showDigests(pr *printer.Printer, x *image.Index, index, where string) error {
	v := printer.View{Columns: printer.Columns("ARCHITECTURE DIGEST", "INDEX")}
	for _, arch := range x.Architectures() {
		d := imageDigest{where, arch, x.Digests[arch], index}
		v.Items = append(v.Items, printer.Item{Value: d, Name: where + "@" + d.Digest, Cells: []string{arch, d.Digest, printer.Dash(index)}})
	}
	return pr.Show(v)
}
