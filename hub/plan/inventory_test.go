package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func nic(mac string) protocol.Interface {
	return protocol.Interface{MAC: mac, Sources: []string{"EthernetInterfaces"}}
}

func option(kind protocol.OptionKind, mac string) protocol.BootOption {
	return protocol.BootOption{Reference: "Boot0001", Kind: kind, MAC: mac}
}

// dgx is a DGX H100 as its BMC lists it: the host and the baseboard of its GPUs,
// here as two hosts of one BMC.
func dgx() []protocol.Inventory {
	return []protocol.Inventory{
		{
			SystemURI: "/redfish/v1/Systems/DGX", Vendor: "NVIDIA", Model: "DGXH100", UUID: "11111111-2222-3333-4444-555555555555", Architecture: "x86_64",
			Interfaces: []protocol.Interface{{MAC: "02:00:00:00:00:ff", Internal: "usb0"}, nic("02:00:00:00:00:01"), nic("02:00:00:00:00:02")},
			BootOptions: []protocol.BootOption{
				option(protocol.OptionDisk, ""), option(protocol.OptionPXE, "02:00:00:00:00:ff"),
				{Kind: protocol.OptionPXE, MAC: "02:00:00:00:00:01", Disabled: true},
				option(protocol.OptionHTTP, "02:00:00:00:00:02"), option(protocol.OptionPXE, "02:00:00:00:00:01"),
			},
		},
		{
			SystemURI: "/redfish/v1/Systems/HGX_Baseboard_0", UUIDProblem: "all zero", UUID: "00000000-0000-0000-0000-000000000000", Architecture: "aarch64",
			Interfaces: []protocol.Interface{nic("02:00:00:00:01:01")},
		},
	}
}

// gb200 lists no interface of its own: the MAC addresses come from boot options.
func gb200() protocol.Inventory {
	n := nic("02:00:00:00:02:01")
	n.Sources = []string{"BootOptions"}
	return protocol.Inventory{
		SystemURI: "/redfish/v1/Systems/System_0", Architecture: "aarch64", Interfaces: []protocol.Interface{n},
		BootOptions: []protocol.BootOption{option(protocol.OptionShell, ""), option(protocol.OptionHTTP, "02:00:00:00:02:01")},
	}
}

// behindBMC is a rack with one boot segment, one of BMCs, and an accepted BMC b.
func behindBMC() (Fleet, *resource.BMC) {
	f := bmcFleet()
	b := bmcOf("b", "r0", "https://10.7.0.130", "")
	f.BMCs = append(f.BMCs, b)
	return f, b
}

func TestDiscoverTable(t *testing.T) {
	rows := tableOf(t, "inventory.go", "server", "made", "segment", "interface", "name", "then")
	for _, server := range []string{"yes", "no"} {
		for _, made := range []string{"yes", "no"} {
			for _, segment := range []string{"one", "not one"} {
				for _, own := range []string{"yes", "no"} {
					for _, name := range []string{"taken", "free"} {
						got := string(discovers(server == "yes", made == "yes", segment == "one", own == "yes", name == "taken"))
						if want := rowOf(t, rows, server, made, segment, own, name)[0]; got != want {
							t.Errorf("server %s, made %s, segment %s, interface %s, name %s: %s, the table says %s", server, made, segment, own, name, got, want)
						}
					}
				}
			}
		}
	}
}

func TestDiscoverMakes(t *testing.T) {
	server := func(name, uri, boot, arch, uuid string, macs ...string) *resource.Server {
		s := &resource.Server{Spec: resource.ServerSpec{
			BMCRef: resource.Ref{Name: "b"}, SystemURI: uri, SegmentRef: resource.Ref{Name: "boot"}, BootMAC: boot, MACs: macs, UUID: uuid, Architecture: arch,
		}}
		s.Metadata.Name, s.Metadata.Labels = name, map[string]string{"rackboot/from": "inventory"}
		s.Default()
		return s
	}
	bare := gb200()
	bare.BootOptions = nil
	disk := gb200()
	disk.BootOptions = []protocol.BootOption{option(protocol.OptionDisk, "")}
	for name, c := range map[string]struct {
		systems []protocol.Inventory
		want    []*resource.Server
	}{
		// Two hosts of one BMC; the first HTTP option comes before a PXE option, the
		// interface that leads to the BMC and a disabled option do not count.
		"DGX-like, two systems": {dgx(), []*resource.Server{
			server("b-dgx", "/redfish/v1/Systems/DGX", "02:00:00:00:00:02", "amd64", "11111111-2222-3333-4444-555555555555", "02:00:00:00:00:01"),
			server("b-hgx-baseboard-0", "/redfish/v1/Systems/HGX_Baseboard_0", "02:00:00:00:01:01", "arm64", ""),
		}},
		"GB200-like, boot options only": {[]protocol.Inventory{gb200()}, []*resource.Server{server("b", "/redfish/v1/Systems/System_0", "02:00:00:00:02:01", "arm64", "")}},
		"no boot options":               {[]protocol.Inventory{bare}, []*resource.Server{server("b", "/redfish/v1/Systems/System_0", "02:00:00:00:02:01", "arm64", "")}},
		"no network boot option":        {[]protocol.Inventory{disk}, []*resource.Server{server("b", "/redfish/v1/Systems/System_0", "02:00:00:00:02:01", "arm64", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			f, b := behindBMC()
			d := Discover(f.Indexed(), b, c.systems, nil)
			if diff := cmp.Diff(c.want, d.New, cmp.Comparer(func(a, b []string) bool { return strings.Join(a, " ") == strings.Join(b, " ") })); diff != "" {
				t.Error(diff)
			}
			if len(d.Problems)+len(d.Differs)+len(d.Have) > 0 {
				t.Errorf("and %+v", d)
			}
			for _, s := range d.New {
				if wrong := s.Validate(); len(wrong) > 0 {
					t.Errorf("%s cannot be stored: %v", s.Metadata.Name, wrong)
				}
			}
		})
	}
}

func TestDiscoverSays(t *testing.T) {
	applied := func(f *Fleet, name, uri string, change func(*resource.Server)) {
		s := named(&resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b"}, SystemURI: uri, BootMAC: "02:00:00:00:02:01", Architecture: "arm64"}}, name)
		change(s)
		f.Servers = append(f.Servers, s)
	}
	same := func(*resource.Server) {}
	const uri = "/redfish/v1/Systems/System_0"
	mute := gb200()
	mute.Interfaces, mute.BootOptions = nil, nil
	twins := []protocol.Inventory{gb200(), gb200()}
	twins[1].SystemURI = "/redfish/v1/Systems/system-0"
	for name, c := range map[string]struct {
		change  func(*Fleet)
		systems []protocol.Inventory
		made    []string
		want    string // new names, then problems, then differences
	}{
		"several segments": {func(f *Fleet) {
			s := *f.Segments[0]
			s.Metadata.Name, s.Spec.Role = "other", resource.SegmentBoth
			f.Segments = append(f.Segments, &s)
		}, nil, nil, uri + ": hosts boot from several segments of the rack; apply a Server with segmentRef one of boot, other"},
		"no segment":            {func(f *Fleet) { f.Segments = f.Segments[1:] }, nil, nil, uri + ": rack r0 has no segment that hosts boot from; apply one of role boot or both"},
		"no interface":          {func(*Fleet) {}, []protocol.Inventory{mute}, nil, uri + ": the BMC shows no network interface of the host; some do only after the host was on once"},
		"the name is another's": {func(f *Fleet) { f.Servers = append(f.Servers, serverOf("b", "r1")) }, nil, nil, uri + `: a server "b" exists already and is not of this system; apply a Server for it under another name`},
		"names that become one": {func(*Fleet) {}, twins, nil, "b-system-0 " + twins[1].SystemURI + `: a server "b-system-0" exists already and is not of this system; apply a Server for it under another name`},
		"applied":               {func(f *Fleet) { applied(f, "n", uri, same) }, nil, nil, ""},
		"applied, slash":        {func(f *Fleet) { applied(f, "n", uri+"/", same) }, nil, nil, ""},
		"applied without a URI": {func(f *Fleet) { applied(f, "n", "", same) }, nil, nil, ""},
		"made and deleted":      {func(*Fleet) {}, nil, []string{uri}, ""},
		"another interface": {func(f *Fleet) {
			applied(f, "n", uri, func(s *resource.Server) { s.Spec.BootMAC = "02:00:00:00:09:09" })
		}, nil, nil, "n: bootMAC 02:00:00:00:09:09 is of no interface that the BMC shows"},
		"another architecture":    {func(f *Fleet) { applied(f, "n", uri, func(s *resource.Server) { s.Spec.Architecture = "amd64" }) }, nil, nil, "n: architecture is amd64, the BMC says arm64"},
		"nothing to compare with": {func(f *Fleet) { applied(f, "n", uri, same) }, []protocol.Inventory{mute}, nil, ""},
		"another UUID": {func(f *Fleet) {
			applied(f, "n", "/redfish/v1/Systems/DGX", func(s *resource.Server) {
				s.Spec.BootMAC, s.Spec.Architecture, s.Spec.UUID = "02:00:00:00:00:02", "amd64", "99999999-2222-3333-4444-555555555555"
			})
		}, dgx()[:1], nil, "n: uuid is 99999999-2222-3333-4444-555555555555, the BMC says 11111111-2222-3333-4444-555555555555"},
		"the system is gone": {func(f *Fleet) { applied(f, "n", "/redfish/v1/Systems/9", same) }, nil, nil, "b n: the BMC shows no system /redfish/v1/Systems/9"},
	} {
		t.Run(name, func(t *testing.T) {
			f, b := behindBMC()
			c.change(&f)
			if c.systems == nil {
				c.systems = []protocol.Inventory{gb200()}
			}
			d := Discover(f.Indexed(), b, c.systems, c.made)
			var got []string
			for _, s := range d.New {
				got = append(got, s.Metadata.Name)
			}
			got = append(got, d.Problems...)
			for s, diff := range d.Differs {
				got = append(got, s+": "+strings.Join(diff, "; "))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A long name is cut, so that the last part of the path stays.
func TestSystemName(t *testing.T) {
	long := strings.Repeat("b", 63)
	for uri, want := range map[string]string{
		"/redfish/v1/Systems/1": strings.Repeat("b", 61) + "-1", "/redfish/v1/Systems/Self/": strings.Repeat("b", 58) + "-self",
		"/redfish/v1/Systems/" + strings.Repeat("X", 80): "b-" + strings.Repeat("x", 61),
	} {
		got := systemName(long, uri, false)
		if len(got) > 63 || (len(uri) < 40 && got != want) {
			t.Errorf("%s: %s (%d), want %s", uri, got, len(got), want)
		}
	}
}
