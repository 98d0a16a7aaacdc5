package convert

import (
	"net/netip"
	"net/url"
	"strings"

	"rackboot/protocol/resource"
)

// Machine is a server and its BMC as readers find them. Names are fitted already.
type Machine struct {
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Rack        string // empty: that of the settings
	BMC         Controller
	// BootMAC and MACs are in Rackboot's form; an empty BootMAC is a need.
	BootMAC      string
	MACs         []string
	UUID         string
	Architecture string
	Profiles     []string
	Params       map[string]any
	ParamsSecret *resource.Ref
	NoPowerOff   bool
}

// Controller is a BMC as readers find it.
type Controller struct {
	// Name is what [Conversion.BMCAt] says if empty. A BMC of that name that was added already is taken as it is.
	Name string
	// Address is https://host[:port], or what apply shall refuse with its own hint.
	Address   string
	MAC       string
	SystemURI string
	// Secret names the Secret with the account; empty: what the settings say.
	Secret string
	// Labels and Annotations are its own.
	Labels, Annotations map[string]string
	// Elsewhere is of a BMC that the input names and does not have.
	Elsewhere bool
}

// BMCName is what the BMC of a machine is called.
func BMCName(machine string) string {
	const suffix = "-bmc"
	if len(machine) > 63-len(suffix) {
		machine = strings.TrimRight(machine[:63-len(suffix)], "-")
	}
	return machine + suffix
}

// BMCAt is the name of the BMC at an address, which may have several systems; of none the name that the BMC of
// the machine gets.
func (c *Conversion) BMCAt(address, machine string) string {
	if name, there := c.bmcs[resource.HostPort(address)]; there && address != "" {
		return name
	}
	return BMCName(machine)
}

// Machine makes a Server, and its BMC unless that is there. It returns false, and makes neither, where the
// name is taken.
func (c *Conversion) Machine(m Machine) bool {
	if c.Has(resource.KindServer, m.Name) {
		return false
	}
	rack := m.Rack
	if rack == "" {
		rack = c.Settings.Rack
	}
	name := m.BMC.Name
	if name == "" {
		name = c.BMCAt(m.BMC.Address, m.Name)
	}
	switch {
	case m.BMC.Elsewhere && !c.Has(resource.KindBMC, name):
		c.Need(ID(resource.KindServer, m.Name), "spec.bmcRef", NeedsBMC)
	case !c.Has(resource.KindBMC, name):
		c.Controller(name, rack, m.BMC)
	}
	segment := c.Settings.Segment
	if segment == "" && rack != "" {
		segment = rack + "-boot"
	}
	s := &resource.Server{Spec: resource.ServerSpec{
		BMCRef: resource.Ref{Name: name}, SystemURI: m.BMC.SystemURI, SegmentRef: resource.Ref{Name: segment},
		BootMAC: m.BootMAC, MACs: m.MACs, UUID: m.UUID, Architecture: m.Architecture, BootMode: "UEFI",
		DisablePowerOff: m.NoPowerOff, Profiles: m.Profiles, Params: m.Params, ParamsSecretRef: m.ParamsSecret,
	}}
	s.Metadata = resource.Metadata{Name: m.Name, Labels: m.Labels, Annotations: m.Annotations}
	if m.BootMAC == "" {
		c.Need(ID(resource.KindServer, m.Name), "spec.bootMAC", NeedsBootMAC)
	}
	return c.Add(s)
}

// Controller makes a BMC.
func (c *Conversion) Controller(name, rack string, k Controller) {
	b := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: rack}, Address: k.Address, MACAddress: k.MAC}}
	b.Metadata = resource.Metadata{Name: name, Labels: k.Labels, Annotations: k.Annotations}
	id := ID(resource.KindBMC, name)
	switch {
	case k.Secret != "":
		b.Spec.CredentialsRef = "secret:" + k.Secret
	case c.Settings.Credentials != "":
		b.Spec.CredentialsRef = c.Settings.Credentials
	default:
		b.Spec.CredentialsRef = "local:" + name
		c.Need(id, "spec.credentialsRef", NeedsCredentials)
	}
	switch fp := c.Settings.Fingerprints[name]; {
	case fp != "":
		b.Spec.TLS.Fingerprint = fp
	case c.Settings.CA != "":
		b.Spec.TLS.CA = c.Settings.CA
	default:
		c.Need(id, "spec.tls", NeedsPin)
	}
	if k.Address == "" && k.MAC == "" {
		c.Need(id, "spec.address", NeedsAddress)
	}
	if c.Add(b) && k.Address != "" {
		c.bmcs[resource.HostPort(k.Address)] = name
	}
}

// Account makes the Secret of a BMC's account; false if there is one of that name already.
func (c *Conversion) Account(name, username, password string, labels map[string]string) bool {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretBMC, Data: resource.SecretData{
		resource.SecretUsername: resource.Plain(username), resource.SecretPassword: resource.Plain(password),
	}}}
	s.Metadata = resource.Metadata{Name: name, Labels: labels}
	return c.Add(s)
}

// HTTPS is the address of a BMC that is named by a host, an address of it, or a URL of http or https without
// user, query and path; ok is false for anything else. A prefix length behind an address is left out.
func HTTPS(s string) (address string, ok bool) {
	s = strings.TrimSpace(s)
	if p, err := netip.ParsePrefix(s); err == nil {
		s = p.Addr().String()
	}
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Is6() {
			return "https://[" + a.String() + "]", true
		}
		return "https://" + a.String(), true
	}
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(u.Host, " \t,;") || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" && path != "/redfish/v1" { // which every BMC has
		return "", false
	}
	return u.Scheme + "://" + u.Host, true
}
