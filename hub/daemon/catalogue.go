package daemon

import (
	"os"

	"rackboot/hub/catalogue/fetch"
	"rackboot/hub/iso"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/clock"
)

// Catalogue says how the hub fetches the files of boot images. They are kept among the
// uploaded files, whose bounds and keyring are those of ISOs.
type Catalogue struct {
	// CAFile is PEM of more CAs for the servers that the files are on. Proxies are those of
	// the environment.
	CAFile string `yaml:"caFile"`
}

// bootFiles is what the hub's control has of the files of boot images.
type bootFiles struct {
	*fetch.Fetcher
	shelf *iso.Shelf
}

func (h *hub) openBootFiles(c Catalogue, shelf *iso.Shelf) (bootFiles, error) {
	var ca []byte
	if c.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(c.CAFile); err != nil {
			return bootFiles{}, protocol.Errorf(protocol.CodeInvalid, "read catalogue.caFile", "%w", err)
		}
	}
	f, err := fetch.New(fetch.Config{Shelf: shelf, CA: ca, Clock: clock.Now, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash})
	return bootFiles{f, shelf}, err
}

// Has implements images.Files.
func (b bootFiles) Has(digest string) bool { return b.shelf.Has(digest) }

// Inspect implements images.Files.
func (b bootFiles) Inspect(a resource.Artefact, arch string) error {
	f, _, err := b.shelf.OpenContent(a.Digest)
	if err != nil {
		return err
	}
	defer f.Close()
	return image.InspectFile(a, f, arch)
}
