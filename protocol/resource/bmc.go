package resource

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"rackboot/protocol"
)

// BMC is one board management controller, reached with Redfish.
type BMC struct {
	Header
	Spec   BMCSpec   `json:"spec"`
	Status BMCStatus `json:"status,omitzero"`
}

// BMCState says whether the agent may use a BMC.
type BMCState string

// The states. A BMC that somebody applied is accepted.
const (
	BMCPending  BMCState = "Pending"  // found; no credentials are tried
	BMCAccepted BMCState = "Accepted" // by a manifest, by rackctl bmc accept, or by its segment's rule
)

// BMCStates lists all states.
func BMCStates() []BMCState { return []BMCState{BMCPending, BMCAccepted} }

// BMCStatus is what is known of the BMC besides its spec.
type BMCStatus struct {
	// State is empty where somebody applied the BMC, which means accepted.
	State BMCState `json:"state,omitempty"`
	// AcceptedBy is a caller, or segment/NAME for its rule.
	AcceptedBy string `json:"acceptedBy,omitempty"`
	// Found is how the agent sees it now, where it found it.
	Found *FoundBMC `json:"found,omitempty"`
	// Address is the one in use: spec.address, or where spec.macAddress was seen.
	Address string `json:"address,omitempty"`
	// Servers are those behind it, by name.
	Servers []string `json:"servers,omitempty"`
	// Inventory is of the systems behind it, when they were last read. A list of
	// BMCs has it in brief; see Inventory.Brief.
	Inventory   []protocol.Inventory `json:"inventory,omitempty"`
	InventoryAt *time.Time           `json:"inventoryAt,omitempty"`
	// Rotation is the last change of its account.
	Rotation   *Rotation        `json:"rotation,omitempty"`
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// BMCSpec says how the agent reaches the BMC.
type BMCSpec struct {
	RackRef Ref `json:"rackRef"`
	// Address is https://host[:port]. It may be empty if MACAddress is given.
	Address string `json:"address,omitempty"`
	// MACAddress is of the BMC's own interface: its address is then the one of its
	// lease on the rack's bmc segment, wherever that goes.
	MACAddress string `json:"macAddress,omitempty"`
	// CredentialsRef is secret:NAME, a Secret of type bmc-credentials that the hub
	// seals for the agent, or local:NAME: the agent reads file NAME in its own
	// credentials folder, so the password never leaves the rack.
	CredentialsRef string `json:"credentialsRef"`
	TLS            BMCTLS `json:"tls"`
}

// BMCTLS pins the BMC's certificate by a fingerprint or a CA: one of the two is required.
type BMCTLS struct {
	// Fingerprint is sha256:<hex> of the certificate's DER form.
	Fingerprint string `json:"fingerprint,omitempty"`
	// CA is one or more PEM certificates.
	CA string `json:"ca,omitempty"`
	// Legacy uses the BMC though its TLS is too old: TLS 1.0 and 1.1 (RFC 8996), an exchange of keys by
	// RSA or 3DES, a certificate with a negative serial number. Who records the traffic, or is in
	// between, may come to its password. Without it nothing is sent to such a BMC.
	Legacy bool `json:"legacy,omitempty"`
}

// pins says whether the certificate is pinned.
func (t BMCTLS) pins() bool { return t.Fingerprint != "" || t.CA != "" }

// Pending says whether nobody has accepted the BMC yet.
func (b *BMC) Pending() bool { return b.Status.State == BMCPending }

// Reach is the address in use; empty while it is not known.
func (b *BMC) Reach() string {
	if b.Spec.Address != "" {
		return b.Spec.Address
	}
	return b.Status.Address
}

// MAC is the address of the BMC's own interface, as it was given or found; empty
// if it is not known.
func (b *BMC) MAC() string {
	if b.Spec.MACAddress != "" || b.Status.Found == nil {
		return b.Spec.MACAddress
	}
	return b.Status.Found.MAC
}

// Default sets kind and version, and writes the MAC address in one form.
func (b *BMC) Default() {
	b.APIVersion, b.Kind = APIVersion, KindBMC
	b.Spec.MACAddress = canonicalMAC(b.Spec.MACAddress)
}

// References names the rack, and the Secret of the credentials.
func (b *BMC) References() []Reference {
	return append(secretReference("spec.credentialsRef", b.Spec.CredentialsRef), Reference{"spec.rackRef.name", KindRack, b.Spec.RackRef.Name})
}

// Validate reports wrong fields. A Pending BMC needs no credentials and no pin:
// those come when it is accepted.
func (b *BMC) Validate() protocol.FieldErrors {
	var f fields
	b.check(&f)
	f.name("spec.rackRef.name", b.Spec.RackRef.Name)
	secure := true
	switch {
	case b.Spec.Address != "":
		secure = b.checkAddress(&f)
	case b.Spec.MACAddress == "":
		f.Add("spec.address", "give https://host[:port], or the BMC's own macAddress if it has a lease on a bmc segment")
	}
	if m := b.Spec.MACAddress; m != "" {
		f.mac("spec.macAddress", m)
	}
	if b.Pending() {
		return f.FieldErrors
	}
	f.credentialsRef("spec.credentialsRef", b.Spec.CredentialsRef)
	if !b.Spec.TLS.pins() && secure {
		f.Add("spec.tls", "give a fingerprint (sha256:<hex>) or a ca")
	}
	if fp := b.Spec.TLS.Fingerprint; fp != "" && !protocol.ValidFingerprint(fp) {
		f.Add("spec.tls.fingerprint", "%q is not sha256:<64 hex digits>", fp)
	}
	return f.FieldErrors
}

// checkAddress says whether the address is one with a certificate.
func (b *BMC) checkAddress(f *fields) (secure bool) {
	u, err := url.Parse(b.Spec.Address)
	switch {
	case err != nil || u.Host == "":
		f.Add("spec.address", "%q is not https://host[:port]", b.Spec.Address)
	case u.Scheme == "ipmi" || u.Scheme == "lanplus":
		f.Add("spec.address", "IPMI is not supported; use the BMC's Redfish address, https://%s", u.Hostname())
	case u.Scheme == "http" && !loopback(u.Hostname()):
		f.Add("spec.address", "http is allowed on loopback only; use https://%s", u.Host)
	case u.Scheme != "https" && u.Scheme != "http":
		f.Add("spec.address", "scheme %q is not https", u.Scheme)
	case u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
		f.Add("spec.address", "give only https://host[:port]; the system's path goes into the Server's systemURI")
	}
	return u == nil || u.Scheme == "https"
}

func (f *fields) mac(path, m string) {
	hw, err := net.ParseMAC(m)
	switch {
	case err != nil || len(hw) != 6:
		f.Add(path, "%q is not a MAC address such as 52:54:00:12:34:56", m)
	case hw[0]&1 == 1:
		f.Add(path, "%s is a group address, not that of an interface", m)
	}
}

// HostPort is host and port of a BMC's address in one form, with the scheme's port
// where none is given; empty if there is no host.
func HostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.String()
	}
	if port == "" {
		port = schemePorts[u.Scheme]
	}
	return net.JoinHostPort(host, port)
}

var schemePorts = map[string]string{"https": "443", "http": "80"}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}
