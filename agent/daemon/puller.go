package daemon

import (
	"context"
	"os"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

// puller brings images from registries into the blob store.
type puller struct {
	blobs   *blob.Store
	options image.Options
	keep    *keeper
}

// Pull implements files.Puller.
func (p puller) Pull(ctx context.Context, img resource.Image) error {
	ref, err := image.Pin(img)
	if err != nil {
		return err
	}
	o, err := p.now()
	if err != nil {
		return err
	}
	return image.Pull(ctx, ref, img.Artefacts, p.blobs, o)
}

// now are the options with the agent's certificate and the hub's authority as they are now:
// the hub may have a registry, which asks for the one and is signed by the other.
func (p puller) now() (image.Options, error) {
	o, id := p.options, p.keep.now()
	pair, _, err := id.pair()
	if err != nil {
		return o, err
	}
	o.Certificate = &pair
	o.CA = slices.Concat(o.CA, []byte("\n"), id.hubCA())
	return o, nil
}

// options are how the agent reaches registries, with its metric.
func (c Images) options(credentialsDir string, reg prometheus.Registerer) (image.Options, error) {
	o := image.Options{Mirrors: c.Mirrors, PlainHTTP: c.PlainHTTP, Allow: c.Allow, Accounts: c.accounts(credentialsDir)}
	if c.CAFile != "" {
		ca, err := os.ReadFile(c.CAFile)
		if err != nil {
			return o, protocol.Errorf(protocol.CodeInvalid, "read images.caFile", "%w", err)
		}
		o.CA = ca
	}
	pulled := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_image_pulled_bytes_total", Help: "Bytes of boot files that came from registries, by whether a mirror or the image's own was asked.",
	}, []string{"source"})
	for _, s := range image.Sources() {
		pulled.WithLabelValues(string(s))
	}
	o.Pulled = func(from image.Source, bytes int64) { pulled.WithLabelValues(string(from)).Add(float64(bytes)) }
	reg.MustRegister(pulled)
	return o, nil
}
