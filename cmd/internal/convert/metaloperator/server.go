package metaloperator

import (
	"net"
	"net/netip"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/kube"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func (r *room) bmc(it *kube.Item) {
	name, spec := convert.Name(it.Name), it.Field("spec")
	id := convert.ID(resource.KindBMC, name)
	switch {
	case name == "":
		it.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindBMC, name):
		it.Refuse(convert.Duplicate)
		return
	}
	it.Head(id, name)
	k := convert.Controller{Name: name, Labels: it.Labels(id), Annotations: it.Annotations(id, all)}
	ip, mac := spec.Field("access", "ip"), spec.Field("access", "macAddress")
	if ref := spec.Field("endpointRef", "name"); ref.Text() != "" {
		if e := r.named["Endpoint/"+ref.Text()]; e != nil {
			ip, mac = e.Field("spec", "ip"), e.Field("spec", "macAddress")
			ref.Changed(convert.AddressFitted, convert.At(id, "spec.address"))
		} else {
			ref.NoEqual(convert.NeedsOther)
		}
	}
	if m, ok := convert.MAC(mac.Text()); ok {
		k.MAC = m
		mac.Spelled(m, convert.At(id, "spec.macAddress"))
	} else if mac.Text() != "" {
		mac.Refused(convert.BadValue)
	}
	k.Address = r.address(ip, spec.Field("protocol"), id)
	host := spec.Field("hostname")
	if a, ok := convert.HTTPS(host.Text()); ok && k.Address == "" && k.MAC == "" && host.Text() != "" {
		k.Address = a
		host.Changed(convert.AddressFitted, convert.At(id, "spec.address"))
	} else {
		host.NoEqual(convert.AssetData)
	}
	r.credentials(spec.Field("bmcSecretRef", "name"), &k, id)
	spec.Field("bmcUUID").NoEqual(convert.Observed)
	spec.Field("consoleProtocol").NoEqual(convert.NotManaged)
	spec.Field("bmcSettingsRef").NoEqual(convert.FirmwareSetting)
	r.c.Controller(name, r.c.Settings.Rack, k)
}

// all takes every annotation.
func all(string, convert.Field) bool { return true }

// address is where the BMC is, of its IP address and protocol.
func (r *room) address(ip, proto convert.Field, id string) string {
	name, port, scheme := proto.Field("name"), proto.Field("port"), proto.Field("scheme")
	to := convert.At(id, "spec.address")
	prefix := "https"
	if scheme.Text() != "" {
		prefix = strings.ToLower(scheme.Text())
		scheme.Changed(convert.AddressFitted, to)
	}
	switch name.Text() {
	case "", "Redfish", "RedfishLocal", "RedfishKube":
		name.Taken(to)
	default:
		prefix = strings.ToLower(name.Text()) // apply refuses it
		name.NoEqual(convert.OtherProtocol)
	}
	a, err := netip.ParseAddr(ip.Text())
	if err != nil {
		if ip.Text() != "" {
			ip.Refused(convert.BadAddress)
		}
		return ""
	}
	ip.Changed(convert.AddressFitted, to)
	host := a.String()
	if a.Is6() {
		host = "[" + host + "]"
	}
	if p := port.Text(); p != "" && p != "0" {
		host = net.JoinHostPort(a.String(), p)
		port.Changed(convert.AddressFitted, to)
	} else {
		port.Taken()
	}
	return prefix + "://" + host
}

// credentials is the Secret of a BMC's account.
func (r *room) credentials(ref convert.Field, k *convert.Controller, id string) {
	if ref.Text() == "" {
		return
	}
	k.Secret = convert.Name(ref.Text())
	ref.Named(k.Secret, convert.At(id, "spec.credentialsRef"))
	if !r.c.Has(resource.KindSecret, k.Secret) {
		r.c.Need(id, "spec.credentialsRef", convert.NeedsCredentials)
	}
}

func (r *room) server(it *kube.Item) {
	name, spec := convert.Name(it.Name), it.Field("spec")
	id := convert.ID(resource.KindServer, name)
	switch {
	case name == "":
		it.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindServer, name):
		it.Refuse(convert.Duplicate)
		return
	}
	it.Head(id, name)
	m := convert.Machine{Name: name, Labels: it.Labels(id), Annotations: it.Annotations(id, all)}
	uuid := spec.Field("systemUUID")
	if u := strings.ToLower(uuid.Text()); protocol.ValidUUID(u) {
		m.UUID = u
		uuid.Spelled(u, convert.At(id, "spec.uuid"))
	} else if u != "" {
		uuid.Refused(convert.BadValue)
	}
	m.BMC.SystemURI = spec.Field("systemURI").Text()
	spec.Field("systemURI").Taken(convert.At(id, "spec.systemURI"))
	r.inline(spec, &m, id)
	r.interfaces(it, &m, id)
	power := spec.Field("power")
	if claimed := spec.Field("serverClaimRef"); claimed.There() {
		claimed.NoEqual(convert.Observed)
		power.NoEqual(convert.Observed)
	} else {
		power.NoEqual(convert.NoClaim)
	}
	for field, code := range map[string]convert.Code{
		"indicatorLED": convert.NotManaged, "reclaimPolicy": convert.NotManaged, "serverMaintenanceRef": convert.ByHand,
		"bootConfigurationRef": convert.Observed, "maintenanceBootConfigurationRef": convert.Observed, "bootOrder": convert.FirmwareSetting,
		"biosSettingsRef": convert.FirmwareSetting, "taints": convert.Placement,
	} {
		spec.Field(field).NoEqual(code)
	}
	if f := spec.Field("unclaimable"); f.Bool() {
		f.NoEqual(convert.Placement)
	} else {
		f.Taken()
	}
	r.c.Machine(m)
}

// inline is the server's BMC: one that it names, or one that it has in itself.
func (r *room) inline(spec convert.Field, m *convert.Machine, id string) {
	if ref := spec.Field("bmcRef", "name"); ref.Text() != "" {
		m.BMC.Name, m.BMC.Elsewhere = convert.Name(ref.Text()), true
		ref.Named(m.BMC.Name, convert.At(id, "spec.bmcRef"))
		return
	}
	own := spec.Field("bmc")
	bmc := convert.ID(resource.KindBMC, convert.BMCName(m.Name))
	m.BMC.Address = r.address(own.Field("address"), own.Field("protocol"), bmc)
	r.credentials(own.Field("bmcSecretRef", "name"), &m.BMC, bmc)
}

// interfaces are what the server was seen with: its spec names no MAC address.
func (r *room) interfaces(it *kube.Item, m *convert.Machine, id string) {
	for _, nic := range it.Field("status", "networkInterfaces").Items() {
		f := nic.Field("macAddress")
		mac, ok := convert.MAC(f.Text())
		switch {
		case !ok:
		case m.BootMAC == "":
			m.BootMAC = mac
			f.Changed(convert.FirstInterface, convert.At(id, "spec.bootMAC"))
		case mac != m.BootMAC:
			m.MACs = append(m.MACs, mac)
			f.Spelled(mac, convert.At(id, "spec.macs"))
		}
	}
}
