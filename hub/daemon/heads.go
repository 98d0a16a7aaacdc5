package daemon

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
)

// headsFile is in the hub's folder: what its store had; see package checkpoint.
const headsFile = "store.heads"

// served reports whether a hub has served from this folder: it lays its key down after its store is known.
func (c Config) served() bool {
	_, err := os.Stat(c.path(hubKeyFile))
	return err == nil
}

// lostMetric says whether the store has lost something.
func lostMetric(st *store.Store) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_hub_store_lost", Help: "1 if the store has lost what was acknowledged, and the hub only reads.",
	}, func() float64 {
		if st.Lost() != nil {
			return 1
		}
		return 0
	})
}
