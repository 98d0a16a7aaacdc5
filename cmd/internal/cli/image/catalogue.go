package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/hub/catalogue"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Command is rackctl image.
func Command(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "image", Short: "Build and push boot images, and take them into the catalogue that groups follow", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(imageBuildCmd(pr), imagePushCmd(pr), importStreamCmd(hubs, src, pr), importReleaseCmd(hubs, src, pr), importOCICmd(hubs, pr))
	return cmd
}

// imageImport is one import of entries.
type imageImport struct {
	catalogue.ImportOptions
	formats []string
	ca      string
	dryRun  bool
}

func (i *imageImport) flags(cmd *cobra.Command, files bool) {
	f := cmd.Flags()
	f.StringVar(&i.Catalogue, "catalogue", "", "the line of images that the entries are of, such as fedora-coreos-stable")
	f.StringSliceVar(&i.Architectures, "arch", nil, "only these: amd64, arm64; default all that there are")
	f.StringVar(&i.MaxIgnition, "max-ignition", "", "highest Ignition specification that the image reads, such as 3.4.0; the metadata does not say it; empty for an image without Ignition")
	f.StringVar(&i.ca, "ca", "", "PEM file with CAs that are trusted besides the system's")
	f.BoolVar(&i.dryRun, "dry-run", false, "let the hub check everything, and change nothing")
	if files {
		f.StringSliceVar(&i.formats, "format", nil, "only these files: pxe for kernel, initramfs and root file system, iso; default both")
		f.StringVar(&i.CommandLine, "command-line", catalogue.LiveCommandLine, "the kernel's; @rackboot.url@ stands for the URL of the boot")
	}
	_ = cmd.MarkFlagRequired("catalogue") // it is defined above
}

const importSays = `Each entry is checked and applied by itself, as rackctl apply would: created, unchanged,
or refused with why. An entry never changes; what is there with another content stays as it is. The hub then
fetches and verifies the files: rackctl get bootimages.`

func importStreamCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var i imageImport
	cmd := &cobra.Command{
		Use: "import-stream FILE|URL|- --catalogue NAME", Short: "Take the versions of CoreOS stream metadata", Args: cobra.ExactArgs(1),
		Long: "Take the versions of CoreOS stream metadata: one entry for each version in it.\n\n" + importSays,
		Example: "  rackctl image import-stream https://builds.coreos.fedoraproject.org/streams/stable.json --catalogue fedora-coreos-stable --max-ignition 3.4.0\n" +
			"  rackctl image import-stream stable.json --catalogue fedora-coreos-stable --arch amd64 --dry-run -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := i.read(cmd.Context(), src, args[0])
			if err != nil {
				return err
			}
			entries, err := catalogue.FromStream(raw, i.ImportOptions)
			if err != nil {
				return err
			}
			return importEntries(cmd.Context(), hubs, pr, entries, i.dryRun)
		},
	}
	i.flags(cmd, true)
	return cmd
}

func importReleaseCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var i imageImport
	var version string
	var last int
	cmd := &cobra.Command{
		Use: "import-release FILE|URL|- --catalogue NAME", Short: "Take releases of CoreOS by the index of a stream, or by their own metadata", Args: cobra.ExactArgs(1),
		Long: "Take releases of CoreOS by the index of a stream (releases.json), whose newest are taken, or one\nby its own metadata (release.json).\n\n" + importSays,
		Example: "  rackctl image import-release https://builds.coreos.fedoraproject.org/prod/streams/stable/releases.json --catalogue fedora-coreos-stable --last 3\n" +
			"  rackctl image import-release releases.json --catalogue fedora-coreos-stable --version 42.20260105.3.1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 1 || last > 100 {
				return protocol.Errorf(protocol.CodeInvalid, "import", "--last %d is not between 1 and 100", last)
			}
			raw, err := i.read(cmd.Context(), src, args[0])
			if err != nil {
				return err
			}
			releases := []([]byte){raw}
			urls := []string{i.URL}
			if catalogue.IsIndex(raw) {
				if releases, urls, err = i.releases(cmd.Context(), src, raw, version, last); err != nil {
					return err
				}
			}
			var entries []*resource.BootImage
			for n, raw := range releases {
				i.URL = urls[n]
				of, err := catalogue.FromRelease(raw, i.ImportOptions)
				if err != nil {
					return err
				}
				entries = append(entries, of...)
			}
			return importEntries(cmd.Context(), hubs, pr, entries, i.dryRun)
		},
	}
	i.flags(cmd, true)
	cmd.Flags().StringVar(&version, "version", "", "of an index: this release alone")
	cmd.Flags().IntVar(&last, "last", 1, "of an index: so many of the newest, at most 100")
	return cmd
}

// releases reads the metadata of the releases that are wanted of an index, and where each is.
func (i *imageImport) releases(ctx context.Context, src *files.Input, raw []byte, version string, last int) (out [][]byte, urls []string, err error) {
	all, err := catalogue.Releases(raw)
	if err != nil {
		return nil, nil, err
	}
	wanted := all[:min(last, len(all))]
	if version != "" {
		at := slices.IndexFunc(all, func(r catalogue.Release) bool { return r.Version == version })
		if at < 0 {
			return nil, nil, protocol.Errorf(protocol.CodeNotFound, "import", "the index has no release %.80q; its newest is %s", version, all[0].Version)
		}
		wanted = all[at : at+1]
	}
	for _, r := range wanted {
		raw, url, err := metadata(ctx, src, r.URL, i.ca)
		if err != nil {
			return nil, nil, err
		}
		out, urls = append(out, raw), append(urls, url)
	}
	return out, urls, nil
}

func importOCICmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var i imageImport
	var plain bool
	var scheme, key string
	cmd := &cobra.Command{
		Use: "import-oci REFERENCE --catalogue NAME", Short: "Take an OCI index, by the digest of each architecture", Args: cobra.ExactArgs(1),
		Long: "Take an OCI index, by the digest of each architecture. A tag that moves later changes nothing.\nWith --signature cosign nothing boots the entry before the hub has proved that a key of its file has\nsigned what each architecture boots; of an index, cosign sign --recursive does so.\n\n" + importSays,
		Example: "  rackctl image import-oci registry.example/os:9.6.20260101-0 --catalogue os\n  rackctl image import-oci registry.example/os@sha256:... --catalogue os --version 9.6 --arch amd64\n" +
			"  rackctl image import-oci registry.example/os:9.6.20260101-0 --catalogue os --signature cosign --key release",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if i.Signature, err = wantedSignature(scheme, key); err != nil {
				return err
			}
			o := image.Options{}
			repository, _ := resource.SplitImage(args[0])
			host, _, _ := strings.Cut(repository, "/")
			if plain {
				o.PlainHTTP = []string{host}
			}
			if i.ca != "" {
				ca, err := os.ReadFile(i.ca)
				if err != nil {
					return protocol.Errorf(protocol.CodeNotFound, "import", "%w", err)
				}
				o.CA = ca
			}
			raw, repository, tag, err := image.Manifest(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if i.Repository = repository; i.Version == "" {
				i.Version = tag
			}
			entries, err := catalogue.FromOCIIndex(raw, i.ImportOptions)
			if err != nil {
				return err
			}
			return importEntries(cmd.Context(), hubs, pr, entries, i.dryRun)
		},
	}
	i.flags(cmd, false)
	cmd.Flags().StringVar(&i.Version, "version", "", "of the entry; default the reference's tag")
	cmd.Flags().StringVar(&scheme, "signature", "", "cosign: the entry is booted only when its signature was proved; default it is compared with its digest alone")
	cmd.Flags().StringVar(&key, "key", "", "with --signature: name of the key in images.signingKeys of the hub's file; default any of them")
	cmd.Flags().BoolVar(&plain, "plain-http", false, "ask the registry without TLS; one at a loopback address always may be")
	return cmd
}

// wantedSignature is the signature that the flags say; nil for none.
func wantedSignature(scheme, key string) (*resource.ImageSignature, error) {
	switch {
	case scheme == "" && key == "":
		return nil, nil
	case scheme == "":
		return nil, protocol.Errorf(protocol.CodeInvalid, "import", "--key is of a signature").WithHint("say --signature %s", resource.SignatureCosign)
	case scheme != string(resource.SignatureCosign):
		return nil, protocol.Errorf(protocol.CodeInvalid, "import", "--signature %.40q is not %s", scheme, resource.SignatureCosign)
	}
	return &resource.ImageSignature{Scheme: resource.SignatureCosign, Key: key}, nil
}

// read reads the metadata that an import is of.
func (i *imageImport) read(ctx context.Context, src *files.Input, from string) (raw []byte, err error) {
	for _, f := range i.formats {
		i.Formats = append(i.Formats, catalogue.Format(f))
	}
	raw, i.URL, err = metadata(ctx, src, from, i.ca)
	return raw, err
}

// importEntries applies each entry by itself, so that one that is refused keeps no other
// out, and says what became of each. That one was refused is an error after all of it.
func importEntries(ctx context.Context, hubs *client.Hubs, pr *printer.Printer, entries []*resource.BootImage, dryRun bool) error {
	c, err := hubs.Connect()
	if err != nil {
		return err
	}
	v := printer.View{Columns: printer.Columns("NAME RESULT"), Single: len(entries) == 1, NoHeader: true}
	refused := 0
	for _, e := range entries {
		out, err := c.Objects.Apply(ctx, []resource.Object{e}, dryRun)
		name, result := "bootimage/"+e.Metadata.Name, ""
		switch code := protocol.CodeOf(err); {
		case err == nil && len(out.Results) == 1:
			result = out.Results[0].Outcome
		case err != nil && code != protocol.CodeInvalid && code != protocol.CodeConflict:
			return err
		default:
			refused++
			result = "refused: " + refusal(err)
		}
		if dryRun {
			result += " (dry run)"
		}
		v.Items = append(v.Items, printer.Item{Value: e, Name: name, Cells: []string{name, result}})
	}
	if pr.Tabular() {
		for _, it := range v.Items {
			if _, err := fmt.Fprintln(pr.Out, strings.Join(it.Cells, " ")); err != nil {
				return err
			}
		}
	} else if err := pr.Show(v); err != nil {
		return err
	}
	if refused > 0 {
		return protocol.Errorf(protocol.CodeConflict, "import", "%d of %d entries were not taken", refused, len(entries)).
			WithHint("each is named with why; the others are there")
	}
	return nil
}

// refusal is what the hub says of one object, without the words for a set.
func refusal(err error) string {
	p, ok := errors.AsType[*api.Problem](err)
	if !ok || len(p.Errors) == 0 {
		return err.Error()
	}
	var out []string
	for _, f := range p.Errors {
		out = append(out, f.Path+": "+f.Message)
	}
	return strings.Join(out, "; ")
}
