package fetch

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// The results of rackboot_hub_catalogue_fetches_total.
const (
	resultVerified = "verified"
	resultRefused  = "refused" // it is not what the entry says
	resultFailed   = "failed"  // it could not be had
)

type metrics struct {
	fetches  *prometheus.CounterVec
	received prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_catalogue_fetches_total", Help: "Files of boot images that were to be fetched and verified, by result: verified, refused or failed.",
		}, []string{"result"}),
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_catalogue_received_bytes_total", Help: "Bytes of files of boot images that came, also of those that were refused.",
		}),
	}
	for _, r := range []string{resultVerified, resultRefused, resultFailed} {
		m.fetches.WithLabelValues(r)
	}
	reg.MustRegister(m.fetches, m.received)
	return m
}

func resultOf(err error) string {
	switch protocol.CodeOf(err) {
	case "":
		return resultVerified
	case protocol.CodeInvalid, protocol.CodeDenied, protocol.CodeUnsupported:
		return resultRefused
	default:
		return resultFailed
	}
}
