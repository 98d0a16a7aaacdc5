package daemon

import (
	"log/slog"
	"slices"

	"rackboot/agent/boot"
	"rackboot/internal/metrics"
	"rackboot/netboot/bootcert"
)

// certificates opens those of the HTTPS listeners; nil if no segment has one. Names
// that the segments' boot URLs have come from the hub, later than the listeners.
func (c *Config) certificates(hosts func() []string, log *slog.Logger, reg metrics.Registry) (*bootcert.Store, error) {
	segments, err := c.segments()
	if err != nil || !slices.ContainsFunc(segments, func(s boot.LocalSegment) bool { return s.HTTPS.IsValid() || s.HTTPS6.IsValid() }) {
		return nil, err
	}
	return bootcert.OpenStore(bootcert.StoreConfig{
		Folder: bootcert.Folder(c.BootCertificates), Logger: log, Registerer: reg,
		Names: func() bootcert.Names {
			n, err := bootcert.ParseNames(hosts())
			if err != nil {
				log.Error("boot URLs have hosts that no certificate can have", "err", err)
			}
			return n
		},
	})
}
