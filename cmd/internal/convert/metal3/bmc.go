package metal3

import (
	"net/url"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/kube"
	"rackboot/protocol/resource"
)

// controller reads how the host's BMC is reached, and returns by which method its address wants the first boot;
// empty for the default.
func (r *room) controller(it *kube.Item, m *convert.Machine) resource.FirstBoot {
	address := it.Field("spec", "bmc", "address")
	a, first, ok := Address(address.Text())
	bmc := r.c.BMCAt(a, m.Name)
	id, server := convert.ID(resource.KindBMC, bmc), convert.ID(resource.KindServer, m.Name)
	field := it.Field("spec", "bmc")
	verify := field.Field("disableCertificateVerification")
	switch set := r.c.Settings; {
	case !verify.Bool():
		verify.Taken()
	case set.CA != "" || set.Fingerprints[bmc] != "":
		verify.Changed(convert.Pinned, convert.At(id, "spec.tls"))
	default:
		verify.NoEqual(convert.UnpinnedTLS)
	}
	if ref := field.Field("credentialsName"); r.c.Has(resource.KindBMC, bmc) {
		ref.NoEqual(convert.SharedBMC)
	} else if ref.Text() != "" {
		m.BMC.Secret = convert.Name(ref.Text())
		ref.Named(m.BMC.Secret, convert.At(id, "spec.credentialsRef"))
		r.account(it, ref.Text(), id)
	}
	switch {
	case address.Text() == "":
	case a == "":
		address.Refused(convert.BadAddress)
	case !ok:
		m.BMC.Address = a
		address.NoEqual(convert.OtherProtocol)
	default:
		m.BMC.Address, m.BMC.SystemURI = a, SystemPath(address.Text())
		to := []string{convert.At(id, "spec.address")}
		if m.BMC.SystemURI != "" {
			to = append(to, convert.At(server, "spec.systemURI"))
		}
		address.Changed(convert.AddressFitted, to...)
	}
	return first
}

// account makes the Secret of an account, once.
func (r *room) account(it *kube.Item, name, bmc string) {
	s := r.secrets[it.Namespace+"/"+name]
	switch {
	case s == nil:
		r.c.Need(bmc, "spec.credentialsRef", convert.NeedsCredentials)
	case !r.used[s]:
		r.used[s] = true
		s.Account(r.c)
	}
}

// Address is the address of a BMC in metal3's form as Rackboot has it, and by which method it wants the first
// boot:
//
//	redfish, idrac-redfish, ilo5-redfish      by the claim's default
//	…-virtualmedia                            VirtualMedia
//	redfish-uefihttp                          UefiHttp
//
// Each may end with +http or +https, which is the default. ok is false of any other scheme: ipmi, and the
// vendors' own. The address is then the input's host with that scheme, so that apply refuses it and says what to
// give; none is ipmi. It is empty where it is no address, or has a user, which may be a secret, or a query.
func Address(s string) (address string, first resource.FirstBoot, ok bool) {
	scheme, rest, has := strings.Cut(strings.TrimSpace(s), "://")
	if !has {
		scheme, rest = "ipmi", strings.TrimSpace(s)
	}
	driver, transport, given := strings.Cut(strings.ToLower(scheme), "+")
	if !given {
		transport = "https"
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", false
	}
	switch {
	case transport != "https" && transport != "http":
	case driver == "redfish-uefihttp":
		return transport + "://" + u.Host, resource.FirstBootUefiHTTP, true
	case driver == "redfish", driver == "idrac-redfish", driver == "ilo5-redfish":
		return transport + "://" + u.Host, "", true
	case driver == "redfish-virtualmedia", driver == "idrac-virtualmedia", driver == "ilo4-virtualmedia", driver == "ilo5-virtualmedia":
		return transport + "://" + u.Host, resource.FirstBootVirtualMedia, true
	}
	return driver + "://" + u.Host, "", false
}

// SystemPath is the path in an address, which apply refuses if it is not Redfish's of a system; empty if it has none.
func SystemPath(s string) string {
	_, rest, _ := strings.Cut(s, "://")
	u, err := url.Parse("https://" + rest)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}
