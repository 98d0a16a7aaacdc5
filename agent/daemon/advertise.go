package daemon

import (
	"fmt"

	"rackboot/protocol"
)

// advertised is where Prometheus reaches the agent's metrics page, by the addresses of the page and of metricsAdvertise; empty is
// nowhere. Errors begin with the key.
func advertised(page string, told protocol.MetricsAddress) (protocol.MetricsAddress, error) {
	own := protocol.MetricsAddress(page)
	switch {
	case told == "" && own.Elsewhere():
		return own, nil
	case told == "":
		return "", nil
	case page == "":
		return "", fmt.Errorf("metricsAdvertise: there is no metrics page; give metrics, or leave it out")
	}
	if err := told.Check(); err != nil {
		return "", fmt.Errorf("metricsAdvertise: %s", protocol.Advice(err))
	}
	return told, nil
}
