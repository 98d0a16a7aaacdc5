package daemon

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"net"
	"os"
	"slices"

	"rackboot/hub/accounts"
	"rackboot/hub/pki"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// BrokerKind is a broker of the user's own that users can be written down for.
type BrokerKind string

// The kinds.
const (
	BrokerNATS      BrokerKind = "nats"
	BrokerMosquitto BrokerKind = "mosquitto"
)

const opUsers = "write the broker's users"

// BrokerUsers is who may do what at a broker of the user's own, as that broker reads it: the hub by its certificate, the
// agents that the hub that runs knows and has not revoked, and for each rack the name of the agent that joins it next. With
// first no hub is asked and no agents are in it: a hub whose store is on the servers that are to read it cannot run before.
//
// Errors: invalid where the hub's file has no broker of the user's own, and for certificates that cannot be written down;
// unavailable and timeout while no hub answers.
func BrokerUsers(ctx context.Context, c Config, kind BrokerKind, first bool) ([]byte, error) {
	if c.Broker.URL == "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "the hub's file has no broker.url: the hub's own broker needs no users written down").
			WithHint("set broker.url, and run this again")
	}
	site, err := c.brokerSite()
	if err != nil {
		return nil, err
	}
	if !first {
		if site.Agents, err = c.askAgents(ctx); err != nil {
			return nil, err
		}
	}
	switch kind {
	case BrokerNATS:
		return accounts.NATS(site)
	case BrokerMosquitto:
		return accounts.Mosquitto(site)
	}
	return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%q is not %s or %s", kind, BrokerNATS, BrokerMosquitto)
}

// brokerSite has the certificates that the hub shows.
func (c *Config) brokerSite() (site accounts.Site, err error) {
	site.Hub = accounts.Common(pki.HubIdentity)
	if c.Broker.CertFile != "" {
		if site.Hub, err = subjectOf("broker.certFile", c.Broker.CertFile); err != nil {
			return site, err
		}
	}
	if n := c.Store.NATS; n != nil && n.CertFile != "" {
		site.Store, err = subjectOf("store.nats.certFile", n.CertFile)
	}
	return site, err
}

// subjectOf is the subject of the first certificate of a file.
func subjectOf(field, path string) (accounts.Subject, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: %w", field, err).WithHint("whoever runs this must be able to read the file")
	}
	var cert *x509.Certificate
	for cert == nil {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: %s has no certificate", field, path).WithHint("give a PEM file that begins with the hub's certificate")
		}
		if block.Type != "CERTIFICATE" {
			continue // a key may be in the same file
		}
		if cert, err = x509.ParseCertificate(block.Bytes); err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: %s: %w", field, path, err)
		}
	}
	return subject(field, cert)
}

// subject reads a certificate's subject whole: what pkix.Name leaves out, a broker may see.
func subject(field string, cert *x509.Certificate) (out accounts.Subject, err error) {
	var rdns pkix.RDNSequence
	if rest, err := asn1.Unmarshal(cert.RawSubject, &rdns); err != nil || len(rest) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: the certificate's subject cannot be read", field)
	}
	if len(rdns) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: the certificate has no subject", field).
			WithHint("give the hub a certificate with a plain subject, as CN=hub,O=Example")
	}
	types := accounts.AttributeTypes()
	for _, rdn := range slices.Backward(rdns) {
		if len(rdn) != 1 {
			return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: the certificate's subject %q has several attributes in one place", field, cert.Subject).
				WithHint("give the hub a certificate with a plain subject, as CN=hub,O=Example")
		}
		name, known := types[rdn[0].Type.String()]
		value, is := rdn[0].Value.(string)
		if !known || !is {
			return nil, protocol.Errorf(protocol.CodeInvalid, opUsers, "%s: the certificate's subject %q has %s, which NATS does not compare", field, cert.Subject, rdn[0].Type).
				WithHint("give the hub a certificate with a plain subject, as CN=hub,O=Example")
		}
		out = append(out, accounts.Attribute{Type: name, Value: value})
	}
	return out, nil
}

// askAgents asks the hub that runs on this host, as its administrator.
func (c *Config) askAgents(ctx context.Context) ([]string, error) {
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(api.Config{BaseURL: c.ownAPI(), CA: keys.BundlePEM(), Token: keys.AdminToken()})
	if err != nil {
		return nil, err
	}
	defer client.CloseIdle()
	var lists [2][]resource.Object
	for i, kind := range []resource.Kind{resource.KindRack, resource.KindAgent} {
		// An incomplete list is an error: who is missing from it would be locked out.
		if lists[i], err = client.Objects.List(ctx, kind); err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), opUsers, "ask the hub at %s: %w", c.ownAPI(), err).
				WithHint("the hub must run on this host; for servers that no agent uses yet, --first asks nobody")
		}
	}
	return agentsOf(lists[0], lists[1]), nil
}

// ownAPI is where the hub of the file answers on its own host, under a name that its certificate has.
func (c *Config) ownAPI() string {
	host, port, _ := net.SplitHostPort(c.API) // check did
	switch ip := net.ParseIP(host); {
	case host == "", ip != nil && ip.IsUnspecified():
		host = "127.0.0.1" // always in the hub's certificate
	case host == "localhost", ip != nil && ip.IsLoopback(), slices.Contains(c.Names, host):
	default:
		host = c.Names[0]
	}
	return "https://" + net.JoinHostPort(host, port)
}

// agentsOf are the names that may connect. A revoked agent may not; one that was replaced may, to be told so. The next
// agent of each rack is among them: nobody has a certificate for its name before the hub makes that agent, and it need
// not wait then until the broker has read the file anew.
func agentsOf(racks, agents []resource.Object) (names []string) {
	last := map[string]uint64{} // terms, by rack
	for _, o := range racks {
		if r, is := o.(*resource.Rack); is {
			last[r.Metadata.Name] = r.Status.Term
		}
	}
	for _, o := range agents {
		a, is := o.(*resource.Agent)
		if !is {
			continue
		}
		if rack := a.Spec.RackRef.Name; last[rack] < a.Spec.Term {
			if _, there := last[rack]; there {
				last[rack] = a.Spec.Term // a standby's is not the rack's
			}
		}
		if !slices.ContainsFunc(a.Status.Conditions, func(s resource.ConditionState) bool { return s.Code == resource.CondRevoked }) {
			names = append(names, a.Metadata.Name)
		}
	}
	for rack, term := range last {
		if next := terms.AgentName(rack, term+1); protocol.ValidName(next) { // of a longer name none can join
			names = append(names, next)
		}
	}
	slices.Sort(names)
	return names
}

// CheckBrokerUsers says whether a file is what BrokerUsers says. Errors: conflict where it is not; invalid where it
// cannot be read.
func CheckBrokerUsers(path string, want []byte) error {
	has, err := os.ReadFile(path)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, opUsers, "%w", err).WithHint("give the file that the broker reads")
	}
	if !bytes.Equal(has, want) {
		return protocol.Errorf(protocol.CodeConflict, opUsers, "%s is not what the hub says now", path).
			WithHint("print it anew, and have the broker read it")
	}
	return nil
}
