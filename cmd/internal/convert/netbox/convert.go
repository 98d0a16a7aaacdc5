package netbox

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxColumns and maxRows bound a file.
const (
	maxColumns = 256
	maxRows    = 100_000
)

// table is one file: a row is an object with the columns' own names as fields.
type table struct {
	columns map[string]string // by their plain names: mac_address
	rows    []*convert.Object
}

// Convert reads files with devices, and with interfaces, in any order.
func Convert(c *convert.Conversion, files []convert.File) error {
	r := room{c: c, nics: map[string][]row{}}
	var devices []row
	for _, f := range files {
		t, err := read(c, f)
		if err != nil {
			return err
		}
		_, isNIC := t.columns["device"]
		if _, named := t.columns["name"]; !named {
			return protocol.Errorf(protocol.CodeInvalid, "read "+f.Name, "has no column Name").WithHint("export devices or interfaces of NetBox as CSV, with all data")
		}
		for _, o := range t.rows {
			if w := (row{o, t.columns}); isNIC {
				device := w.field("device").Text()
				r.nics[device] = append(r.nics[device], w)
			} else {
				devices = append(devices, w)
			}
		}
	}
	seen := map[string]bool{}
	for _, d := range devices {
		r.device(d)
		seen[d.field("name").Text()] = true
	}
	for _, d := range devices {
		d.Close()
	}
	for _, device := range slices.Sorted(maps.Keys(r.nics)) {
		for _, n := range r.nics[device] {
			if !seen[device] {
				n.Refuse(convert.NoMachine)
			}
			n.Close()
		}
	}
	return nil
}

// row is one line of a file.
type row struct {
	*convert.Object
	columns map[string]string
}

// field is a cell, by the first of the plain names of columns that the file has.
func (w row) field(names ...string) convert.Field {
	for _, n := range names {
		if column, is := w.columns[n]; is {
			return w.Field(column)
		}
	}
	return w.Field("")
}

// plain is the name of a column in the form that it has in a bulk import.
func plain(column string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(column)), " ", "_")
}

func read(c *convert.Conversion, f convert.File) (table, error) {
	bad := func(format string, args ...any) (table, error) {
		return table{}, protocol.Errorf(protocol.CodeInvalid, "read "+f.Name, format, args...).WithHint("export devices or interfaces of NetBox as CSV")
	}
	if len(f.Data) > convert.MaxFile {
		return bad("is longer than %d bytes", convert.MaxFile)
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(f.Data, []byte("\ufeff"))))
	head, err := in.Read()
	if err != nil {
		return bad("has no first line with the names of columns")
	}
	if len(head) > maxColumns {
		return bad("has more than %d columns", maxColumns)
	}
	t := table{columns: map[string]string{}}
	for i, h := range head {
		h = strings.TrimSpace(h)
		if head[i] = h; h == "" || strings.ContainsFunc(h, func(r rune) bool { return r < 0x20 }) || slices.Index(head, h) < i {
			return bad("column %d has no name of its own", i+1)
		}
		if _, twice := t.columns[plain(h)]; twice {
			return bad("column %d has the name of another", i+1)
		}
		t.columns[plain(h)] = h
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			return bad("line %d: %w", wrong.Line, wrong.Err)
		}
		if len(t.rows) == maxRows {
			return bad("has more than %d lines", maxRows)
		}
		root := map[string]any{}
		for i, h := range head {
			root[h] = strings.TrimSpace(cells[i])
		}
		line, _ := in.FieldPos(0)
		name := fmt.Sprintf("line %d", line)
		if n, is := root[t.columns["name"]].(string); is && n != "" {
			name += " " + n
		}
		t.rows = append(t.rows, c.Object(f.Name, name, root))
	}
}

type room struct {
	c    *convert.Conversion
	nics map[string][]row // by device
}

func (r *room) device(d row) {
	name := convert.Name(d.field("name").Text())
	server := convert.ID(resource.KindServer, name)
	m := convert.Machine{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}
	switch {
	case name == "":
		d.Refuse(convert.NoName)
		return
	case r.c.Has(resource.KindServer, name):
		d.Refuse(convert.Duplicate)
		return
	}
	oob := d.field("oob_ip", "out-of-band_ip", "out_of_band_ip")
	a, ok := convert.HTTPS(oob.Text())
	bmc := convert.ID(resource.KindBMC, r.c.BMCAt(a, name))
	if ok {
		m.BMC.Address = a
		oob.Changed(convert.AddressFitted, convert.At(bmc, "spec.address"))
	} else if oob.Text() != "" {
		oob.Refused(convert.BadAddress)
	}
	r.interfaces(d.field("name").Text(), &m, server, bmc)
	if m.BMC.Address == "" && m.BMC.MAC == "" && m.BootMAC == "" {
		d.Refuse(convert.NoMachine)
		return
	}
	d.field("name").Named(name, convert.At(server, "metadata.name"))
	if rack := d.field("rack"); rack.Text() != "" && r.c.Settings.Rack == "" {
		m.Rack = convert.Name(rack.Text())
		rack.Named(m.Rack, convert.At(bmc, "spec.rackRef"))
	} else if rack.Text() != "" {
		m.Labels["netbox-rack"] = rack.Text()
		rack.Changed(convert.ToLabel, convert.At(server, "metadata.labels.netbox-rack"))
	}
	r.facts(d, &m, server)
	r.c.Machine(m)
}

// facts are what the inventory knows of a device: by what people select are labels, the rest annotations.
func (r *room) facts(d row, m *convert.Machine, server string) {
	for _, n := range []string{"site", "location", "region", "role", "device_role", "tenant", "platform", "cluster", "status"} {
		if f := d.field(n); f.Text() != "" {
			m.Labels[n] = f.Text()
			f.Changed(convert.ToLabel, convert.At(server, "metadata.labels."+n))
		}
	}
	tags := d.field("tags")
	for tag := range strings.SplitSeq(tags.Text(), ",") {
		if key := "tag-" + convert.Name(tag); convert.Name(tag) != "" {
			m.Labels[key] = "true"
			tags.Changed(convert.ToLabel, convert.At(server, "metadata.labels."+key))
		}
	}
	for _, n := range []string{"serial", "serial_number", "asset_tag", "manufacturer", "type", "device_type", "position", "face", "description"} {
		if f := d.field(n); f.Text() != "" {
			m.Annotations["netbox/"+n] = f.Text()
			f.Changed(convert.ToAnnotation, convert.At(server, "metadata.annotations.netbox/"+n))
		}
	}
	for _, n := range []string{"ip_address", "primary_ip", "primary_ip4", "primary_ip6", "ipv4_address", "ipv6_address"} {
		d.field(n).NoEqual(convert.Reservation)
	}
	for _, n := range []string{
		"id", "created", "last_updated", "url", "console_ports", "console_server_ports", "power_ports", "power_outlets", "interfaces", "front_ports",
		"rear_ports", "device_bays", "module_bays", "inventory_items", "contacts", "virtual_chassis", "vc_position", "vc_priority", "parent_device", "device_bay", "config_template", "airflow",
		"latitude", "longitude", "cluster_group", "tenant_group", "u_height", "comments", "site_group", "owner",
	} {
		d.field(n).NoEqual(convert.AssetData)
	}
}

// interfaces are the device's: one for management is its BMC's, the first other one with an address boots.
func (r *room) interfaces(device string, m *convert.Machine, server, bmc string) {
	boot := 0
	for _, n := range r.nics[device] {
		n.field("device").Taken(server)
		for _, f := range []string{
			"name", "label", "enabled", "type", "mode", "mtu", "speed", "duplex", "parent", "bridge", "lag", "vrf", "untagged_vlan", "tagged_vlans", "mark_connected",
			"poe_mode", "poe_type", "rf_role", "rf_channel", "wwn", "description", "tags", "id", "cable", "connection", "ip_addresses", "fhrp_groups", "tunnel", "l2vpn", "link_peer", "wireless_link",
			"created", "last_updated", "vdcs", "tx_power", "cable_color", "parent_device", "qinq_svlan", "vlan_translation_policy", "module", "inventory_items", "url", "owner",
		} {
			n.field(f).NoEqual(convert.AssetData)
		}
		for _, f := range []string{"mgmt_only", "management_only"} {
			n.field(f).Taken()
		}
		f := n.field("primary_mac_address", "primary_mac", "mac_address", "mac_addresses")
		first, _, _ := strings.Cut(f.Text(), ",")
		mac, ok := convert.MAC(first)
		switch {
		case f.Text() == "":
		case !ok:
			f.Refused(convert.BadValue)
		case truth(n.field("mgmt_only", "management_only").Text()) && m.BMC.MAC == "":
			m.BMC.MAC = mac
			f.Spelled(mac, convert.At(bmc, "spec.macAddress"))
		case truth(n.field("mgmt_only", "management_only").Text()):
			f.NoEqual(convert.ByHand)
		case boot == 0:
			m.BootMAC = mac
			boot++
			f.Changed(convert.FirstInterface, convert.At(server, "spec.bootMAC"))
		case mac != m.BootMAC && !slices.Contains(m.MACs, mac):
			m.MACs = append(m.MACs, mac)
			f.Spelled(mac, convert.At(server, "spec.macs"))
		default:
			f.Refused(convert.Duplicate)
		}
	}
}

// truth reads the words that NetBox has for yes.
func truth(s string) bool {
	return slices.Contains([]string{"true", "yes", "1"}, strings.ToLower(s))
}
