package daemon

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"rackboot/hub/pki"
	"rackboot/protocol/api"
	"rackboot/protocol/link"
)

// Endpoints are where agents dial, in the order in which they try. They are told when
// they join, and again when the lists change.
type Endpoints struct {
	// Brokers are mqtts://host:port. Default: broker.agents, or the first of names with
	// the port of mqtt.
	Brokers []string `yaml:"brokers"`
	// API are https://host:port. Default: the first of names with the port of api.
	API []string `yaml:"api"`
}

// maxEndpoints bounds each list.
const maxEndpoints = 8

func (c *Config) checkEndpoints() error {
	if len(c.Endpoints.Brokers) > maxEndpoints || len(c.Endpoints.API) > maxEndpoints {
		return fmt.Errorf("endpoints: a list has more than %d", maxEndpoints)
	}
	for i, b := range c.Endpoints.Brokers {
		if err := link.CheckBroker(b); err != nil {
			return fmt.Errorf("endpoints.brokers[%d]: %w", i, err)
		}
	}
	for i, a := range c.Endpoints.API {
		if u, err := url.Parse(a); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" {
			return fmt.Errorf("endpoints.api[%d]: %q is not https://host:port", i, a)
		}
	}
	if d := c.CertificateLife; d != 0 && (d < minCertificateLife || d > pki.MaxAgentValidity) {
		return fmt.Errorf("certificateLife: %s is not between %s and %s", d, minCertificateLife, pki.MaxAgentValidity)
	}
	return nil
}

// minCertificateLife leaves an agent that was away over a night the time to renew with
// its certificate.
const minCertificateLife = 24 * time.Hour

// standing is what agents are told to trust and where to dial.
func (c *Config) standing(keys *pki.PKI, to route) api.Standing {
	s := api.Standing{
		Brokers: c.Endpoints.Brokers, API: c.Endpoints.API,
		BrokerCA: to.ca, HubCA: keys.BundlePEM(), KeyStatements: keys.Keys().Statements,
	}
	if len(s.Brokers) == 0 {
		s.Brokers = []string{to.agents}
	}
	if len(s.API) == 0 {
		_, port, _ := net.SplitHostPort(c.API) // check did
		s.API = []string{"https://" + net.JoinHostPort(c.Names[0], port)}
	}
	return s
}
