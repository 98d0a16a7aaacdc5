package sealing

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Vault decrypts Secrets.
type Vault interface {
	// Open has the codes unavailable, internal and unsupported; no error has a value.
	Open(s store.StoredSecret) (resource.SecretData, error)
}

// Count counts credentials, user data and boot environments that were to be sealed. It is safe for concurrent use.
type Count struct{ seals *prometheus.CounterVec }

const (
	sealed = "sealed"
	failed = "failed"
)

// NewCount begins at 0.
func NewCount() Count {
	c := Count{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_hub_secret_seals_total", Help: "Credentials, user data and boot environments that were to be sealed for an agent, by result.",
	}, []string{"result"})}
	for _, r := range []string{sealed, failed} {
		c.seals.WithLabelValues(r)
	}
	return c
}

// Sealed counts one that was.
func (c Count) Sealed() { c.seals.WithLabelValues(sealed).Inc() }

// Failed counts one that could not be.
func (c Count) Failed() { c.seals.WithLabelValues(failed).Inc() }

// Describe implements prometheus.Collector.
func (c Count) Describe(ch chan<- *prometheus.Desc) { c.seals.Describe(ch) }

// Collect implements prometheus.Collector.
func (c Count) Collect(ch chan<- prometheus.Metric) { c.seals.Collect(ch) }
