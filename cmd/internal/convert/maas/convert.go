package maas

import (
	"fmt"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Convert reads lists of machines and of power parameters, in any order.
func Convert(c *convert.Conversion, files []convert.File) error {
	r := room{c: c, power: map[string]*convert.Object{}}
	var machines []*convert.Object
	for _, f := range files {
		docs, err := convert.Read(f)
		if err != nil {
			return err
		}
		for i, d := range docs {
			list, is := d.([]any)
			if !is {
				list = []any{d}
			}
			for j, v := range list {
				if o := r.object(f.Name, fmt.Sprintf("document %d item %d", i+1, j+1), v); o != nil {
					machines = append(machines, o)
				}
			}
		}
	}
	for _, o := range machines {
		r.machine(o)
		o.Close()
	}
	for _, id := range r.order {
		r.power[id].Close()
	}
	return nil
}

type room struct {
	c     *convert.Conversion
	power map[string]*convert.Object // by system_id
	order []string
}

// object sorts an object into machines, which it returns, and power parameters.
func (r *room) object(file, place string, v any) *convert.Object {
	m, is := v.(map[string]any)
	host, _ := m["hostname"].(string)
	id, _ := m["system_id"].(string)
	_, power := m["power_address"]
	switch {
	case is && host != "":
		return r.c.Object(file, "machine/"+host, v)
	case is && power && id != "" && r.power[id] == nil:
		r.power[id] = r.c.Object(file, "power-parameters/"+id, v)
		r.order = append(r.order, id)
		return nil
	}
	o := r.c.Object(file, place, v)
	switch {
	case is && power && id != "":
		o.Refuse(convert.Duplicate)
	case is && power:
		o.Refuse(convert.NoName)
	default:
		o.Refuse(convert.BadValue)
	}
	o.Close()
	return nil
}

func (r *room) machine(o *convert.Object) {
	name := convert.Name(o.Field("hostname").Text())
	server := convert.ID(resource.KindServer, name)
	words, _, _ := strings.Cut(o.Field("architecture").Text(), "/")
	arch, known := convert.Architecture(words)
	switch {
	case name == "":
		o.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindServer, name):
		o.Refuse(convert.Duplicate)
		return
	case words != "" && !known:
		o.Refuse(convert.OtherMachine)
		return
	case o.Field("bios_boot_method").Text() == "pxe":
		o.Refuse(convert.LegacyBIOS)
		return
	}
	o.Field("hostname").Named(name, convert.At(server, "metadata.name"))
	o.Field("architecture").Spelled(arch, convert.At(server, "spec.architecture"))
	m := convert.Machine{Name: name, Architecture: arch}
	r.hardware(o, &m, server)
	m.Labels = labels(o, server)
	if d := o.Field("description"); d.Text() != "" {
		m.Annotations = map[string]string{"description": d.Text()}
		d.Changed(convert.ToAnnotation, convert.At(server, "metadata.annotations.description"))
	}
	r.controller(o, &m)
	rest(o)
	r.c.Machine(m)
}

// hardware is the machine's UUID and its interfaces.
func (r *room) hardware(o *convert.Object, m *convert.Machine, server string) {
	uuid := o.Field("hardware_uuid")
	if u := strings.ToLower(uuid.Text()); protocol.ValidUUID(u) {
		m.UUID = u
		uuid.Spelled(u, convert.At(server, "spec.uuid"))
	} else if u != "" {
		uuid.Refused(convert.BadValue)
	}
	boot := o.Field("boot_interface", "mac_address")
	if mac, ok := convert.MAC(boot.Text()); ok {
		m.BootMAC = mac
		boot.Spelled(mac, convert.At(server, "spec.bootMAC"))
	} else if boot.Text() != "" {
		boot.Refused(convert.BadValue)
	}
	o.Field("boot_interface").NoEqual(convert.Observed)
	for _, nic := range o.Field("interface_set").Items() {
		if t := nic.Field("type").Text(); t != "" && t != "physical" {
			nic.NoEqual(convert.NetworkConfig) // bonds, bridges and VLANs have addresses of others
			continue
		}
		f := nic.Field("mac_address")
		mac, ok := convert.MAC(f.Text())
		switch {
		case !ok:
		case m.BootMAC == "":
			m.BootMAC = mac
			f.Changed(convert.FirstInterface, convert.At(server, "spec.bootMAC"))
		case mac != m.BootMAC:
			m.MACs = append(m.MACs, mac)
			f.Spelled(mac, convert.At(server, "spec.macs"))
		default:
			f.Taken(convert.At(server, "spec.bootMAC"))
		}
	}
	o.Field("interface_set").NoEqual(convert.Observed)
}

// labels are where the machine is and what it is for: tags as tag-NAME.
func labels(o *convert.Object, server string) map[string]string {
	out := map[string]string{}
	for field, key := range map[string]string{"zone": "zone", "pool": "pool"} {
		f := o.Field(field, "name")
		if f.Text() == "" {
			f = o.Field(field)
		}
		if f.Text() != "" {
			out[key] = f.Text()
			f.Changed(convert.ToLabel, convert.At(server, "metadata.labels."+key))
		}
		o.Field(field).NoEqual(convert.Observed)
	}
	for _, tag := range o.Field("tag_names").Items() {
		key := "tag-" + tag.Text()
		if tag.Text() == "" || strings.ContainsAny(key, " \t\n=,") {
			tag.Refused(convert.BadValue)
			continue
		}
		out[key] = "true"
		tag.Changed(convert.ToLabel, convert.At(server, "metadata.labels."+key))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// controller is the machine's BMC: its address and account are power parameters.
func (r *room) controller(o *convert.Object, m *convert.Machine) {
	kind := o.Field("power_type")
	p := r.power[o.Field("system_id").Text()]
	o.Field("system_id").NoEqual(convert.Observed)
	if p == nil {
		p = r.c.Object("", "", nil)
	}
	p.Field("system_id").Taken()
	address, user, pass := p.Field("power_address"), p.Field("power_user"), p.Field("power_pass")
	a, ok := convert.HTTPS(address.Text())
	bmc := r.c.BMCAt(a, m.Name)
	id := convert.ID(resource.KindBMC, bmc)
	if !ok {
		address.Refused(convert.BadAddress)
	} else if kind.Text() == "redfish" {
		m.BMC.Address = a
		address.Changed(convert.AddressFitted, convert.At(id, "spec.address"))
	} else {
		m.BMC.Address = strings.Replace(a, "https://", kindScheme(kind.Text())+"://", 1) // apply refuses it
		address.NoEqual(convert.OtherProtocol)
	}
	if kind.Text() == "redfish" {
		kind.Taken(convert.At(id, "spec.address"))
	} else {
		kind.NoEqual(convert.OtherProtocol)
	}
	if node := p.Field("node_id"); node.Text() != "" {
		m.BMC.SystemURI = "/redfish/v1/Systems/" + node.Text()
		node.Changed(convert.AddressFitted, convert.At(convert.ID(resource.KindServer, m.Name), "spec.systemURI"))
	}
	switch secret := convert.ID(resource.KindSecret, bmc); {
	case user.Text() == "" || pass.Text() == "":
	case r.c.Has(resource.KindBMC, bmc): // of another system of it
		m.BMC.Secret = bmc
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
	for _, f := range []string{"power_driver", "power_boot_type", "cipher_suite_id", "privilege_level", "workaround_flags", "k_g", "mac_address"} {
		p.Field(f).NoEqual(convert.OtherProtocol)
	}
}

func kindScheme(powerType string) string {
	if n := convert.Name(powerType); n != "" {
		return n
	}
	return "ipmi"
}

// rest is what MAAS knows of a machine and no manifest has.
func rest(o *convert.Object) {
	for _, f := range []string{
		"fqdn", "status", "status_name", "status_message", "status_action", "power_state", "resource_uri", "cpu_count", "cpu_speed", "cpu_test_status", "cpu_test_status_name",
		"memory", "memory_test_status", "memory_test_status_name", "storage", "storage_test_status", "storage_test_status_name", "network_test_status",
		"network_test_status_name", "interface_test_status", "interface_test_status_name", "other_test_status", "other_test_status_name", "testing_status",
		"testing_status_name", "commissioning_status", "commissioning_status_name", "current_commissioning_result_id", "current_installation_result_id",
		"current_testing_result_id", "blockdevice_set", "physicalblockdevice_set", "virtualblockdevice_set", "volume_groups", "raids", "cache_sets", "bcaches",
		"boot_disk", "special_filesystems", "hardware_info", "numanode_set", "node_type", "node_type_name", "constraints_by_type", "default_gateways",
		"virtualmachine_id", "workload_annotations", "last_sync", "next_sync", "sync_interval", "enable_hw_sync", "parent", "pod", "error_description", "error",
		"bios_boot_method", "owner", "owner_data", "current_release", "is_dpu", "iscsiblockdevice_set", "enable_kernel_crash_dump", "locked_by",
	} {
		o.Field(f).NoEqual(convert.Observed)
	}
	o.Field("ip_addresses").NoEqual(convert.Reservation)
	o.Field("domain").NoEqual(convert.NetworkService)
	o.Field("address_ttl").NoEqual(convert.NetworkService)
	for _, f := range []string{"osystem", "distro_series", "hwe_kernel", "min_hwe_kernel", "ephemeral_deploy", "swap_size"} {
		o.Field(f).NoEqual(convert.NoClaim)
	}
	for _, f := range []string{"netboot", "disable_ipv4"} {
		o.Field(f).NoEqual(convert.Observed)
	}
	if f := o.Field("locked"); f.Bool() {
		f.NoEqual(convert.Pause)
	} else {
		f.Taken()
	}
}
