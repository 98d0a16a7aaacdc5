package drprovision

import (
	"slices"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol/resource"
)

// The params in which dr-provision's IPMI plugin has a BMC.
const (
	ipmiAddress  = "ipmi/address"
	ipmiUsername = "ipmi/username"
	ipmiPassword = "ipmi/password"
)

// secretive reports whether the name of a param says that its value is a secret.
func secretive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"password", "passwd", "secret", "token", "private-key", "privatekey"}, func(w string) bool { return strings.Contains(name, w) })
}

func (r *room) machine(p part) {
	name := convert.Name(short(p.named("Name")))
	server := convert.ID(resource.KindServer, name)
	arch, known := convert.Architecture(p.Field("Arch").Text())
	switch {
	case name == "":
		p.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindServer, name):
		p.Refuse(convert.Duplicate)
		return
	case p.Field("Arch").Text() != "" && !known:
		p.Refuse(convert.OtherMachine)
		return
	}
	kept(p)
	p.Field("Name").Named(name, convert.At(server, "metadata.name"))
	p.Field("Arch").Spelled(arch, convert.At(server, "spec.architecture"))
	m := convert.Machine{Name: name, Architecture: arch}
	addresses(p, &m, server)
	if uuid := p.Field("Uuid"); uuid.Text() != "" {
		// dr-provision makes it up; it is the SMBIOS UUID of few machines.
		uuid.NoEqual(convert.Observed)
	}
	if d := p.Field("Description"); d.Text() != "" {
		m.Annotations = map[string]string{"description": d.Text()}
		d.Changed(convert.ToAnnotation, convert.At(server, "metadata.annotations.description"))
	}
	for _, f := range p.Field("Profiles").Items() {
		profile := convert.Name(f.Text())
		if profile == "" {
			continue
		}
		if profile == resource.GlobalProfile { // every server has it
			f.Taken()
			continue
		}
		m.Profiles = append(m.Profiles, profile)
		f.Named(profile, convert.At(server, "spec.profiles"))
		r.wants = append(r.wants, want{server, "spec.profiles", convert.ID(resource.KindProfile, profile)})
	}
	secret := r.params(p.Field("Params"), &m, server)
	for field, code := range map[string]convert.Code{
		"Address": convert.Reservation, "BootEnv": convert.NoClaim, "Workflow": convert.Workflow, "Stage": convert.Workflow, "Tasks": convert.Workflow,
		"Locked": convert.Pause, "OS": convert.Observed, "Secret": convert.Observed, "Runnable": convert.Observed, "Fingerprint": convert.Observed,
		"CurrentTask": convert.Observed, "CurrentJob": convert.Observed, "JobState": convert.Observed, "JobResultErrors": convert.Observed,
		"JobExitState": convert.Observed, "RetryTaskAttempt": convert.Observed, "TaskErrorStacks": convert.Observed, "WorkflowComplete": convert.Observed,
		"Context": convert.Workflow, "Pool": convert.AssetData, "PoolStatus": convert.AssetData, "PoolAllocated": convert.AssetData, "HasBMC": convert.Observed,
	} {
		if f := p.Field(field); f.Text() == "false" {
			f.Taken()
		} else {
			f.NoEqual(code)
		}
	}
	m.ParamsSecret = secret
	r.c.Machine(m)
}

// short is the first label of a name: machines of dr-provision are often called by their full names.
func short(name string) string {
	host, _, _ := strings.Cut(name, ".")
	return host
}

// addresses are the MAC addresses that a machine may boot from.
func addresses(p part, m *convert.Machine, server string) {
	list := p.Field("HardwareAddrs").Items()
	for _, f := range list {
		mac, ok := convert.MAC(f.Text())
		switch {
		case !ok:
			f.Refused(convert.BadValue)
		case m.BootMAC == "":
			m.BootMAC = mac
			if len(list) > 1 {
				f.Changed(convert.FirstInterface, convert.At(server, "spec.bootMAC"))
			} else {
				f.Spelled(mac, convert.At(server, "spec.bootMAC"))
			}
		default:
			m.MACs = append(m.MACs, mac)
			f.Spelled(mac, convert.At(server, "spec.macs"))
		}
	}
}

// params are those of a machine: those of its BMC become one, the others stay params. It returns the Secret of
// those that are secret.
func (r *room) params(params convert.Field, m *convert.Machine, server string) *resource.Ref {
	a, ok := convert.HTTPS(params.Field(ipmiAddress).Text())
	bmc := r.c.BMCAt(a, m.Name)
	id := convert.ID(resource.KindBMC, bmc)
	if f := params.Field(ipmiAddress); f.Text() != "" {
		if ok {
			m.BMC.Address = a
			f.Changed(convert.AddressFitted, convert.At(id, "spec.address"))
		} else {
			f.Refused(convert.BadAddress)
		}
	}
	user, pass := params.Field(ipmiUsername), params.Field(ipmiPassword)
	switch secret := convert.ID(resource.KindSecret, bmc); {
	case encrypted(pass):
		user.NoEqual(convert.NeedsCredentials)
		pass.NoEqual(convert.NeedsCredentials)
	case user.Text() == "" || pass.Text() == "":
	case r.c.Has(resource.KindBMC, bmc): // of another system of it
		user.NoEqual(convert.SharedBMC)
		pass.NoEqual(convert.SharedBMC)
	case r.c.Account(bmc, user.Text(), pass.Text(), nil):
		m.BMC.Secret = bmc
		user.Changed(convert.ToSecret, convert.At(secret, "spec.data.username"))
		pass.Changed(convert.ToSecret, convert.At(secret, "spec.data.password"))
	default:
		user.Refused(convert.Duplicate)
		pass.Refused(convert.Duplicate)
	}
	keys := slices.DeleteFunc(params.Keys(), func(k string) bool { return k == ipmiAddress || k == ipmiUsername || k == ipmiPassword })
	var secret *resource.Ref
	m.Params, secret = r.values(params, keys, server, m.Name+"-params")
	return secret
}
