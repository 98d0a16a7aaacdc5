package guard

import "github.com/prometheus/client_golang/prometheus"

// Collectors are metrics that a registry takes and gives back as one.
type Collectors []prometheus.Collector

// Register registers all of them, or none. A nil registry takes nothing.
func (cs Collectors) Register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for i, c := range cs {
		if err := r.Register(c); err != nil {
			cs[:i].Unregister(r)
			return err
		}
	}
	return nil
}

// Unregister takes them back.
func (cs Collectors) Unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range cs {
		r.Unregister(c)
	}
}
