package files

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// isoDone is the result of a fetch that made a file local.
const isoDone = "ok"

// uploadMetrics say what is fetched of uploaded files.
type uploadMetrics struct {
	bytes prometheus.Counter
	pulls *prometheus.CounterVec
}

func newUploadMetrics(p *uploads, reg prometheus.Registerer) *uploadMetrics {
	m := &uploadMetrics{
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_iso_pulled_bytes_total", Help: "Bytes of uploaded files that came from the hub.",
		}),
		pulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_iso_pulls_total", Help: "Fetches of uploaded files, by result: ok or an error code. One that failed is gone on with later.",
		}, []string{"result"}),
	}
	m.pulls.WithLabelValues(isoDone)
	for _, c := range protocol.Codes() {
		m.pulls.WithLabelValues(string(c))
	}
	missing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_agent_iso_missing_bytes", Help: "Bytes of uploaded files that are wanted and not local yet.",
	}, func() float64 { return float64(p.missing()) })
	reg.MustRegister(m.bytes, m.pulls, missing)
	return m
}

// missing is how much has to be fetched, in bytes.
func (p *uploads) missing() (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for digest, w := range p.wanted {
		if !p.cfg.Blobs.Has(digest) {
			n += max(0, w.Size-w.have)
		}
	}
	return n
}
