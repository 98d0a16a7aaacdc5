package storetest

import "rackboot/protocol/resource"

// Rack makes a valid Rack.
func Rack(name string) *resource.Rack {
	return object(&resource.Rack{}, name)
}

// Segment makes a valid Segment of a rack.
func Segment(name, rack string) *resource.Segment {
	return object(&resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: rack}, Prefix: "10.7.0.0/24", Address: "10.7.0.1",
		Pool: resource.Pool{From: "10.7.0.100", To: "10.7.0.200"},
	}}, name)
}

// BMC makes a valid BMC of a rack.
func BMC(name, rack string) *resource.BMC {
	return object(&resource.BMC{Spec: resource.BMCSpec{
		RackRef: resource.Ref{Name: rack}, Address: "http://127.0.0.1:8000", CredentialsRef: "local:" + name,
	}}, name)
}

// Server makes a valid Server.
func Server(name, bmc, segment, mac string) *resource.Server {
	return object(&resource.Server{Spec: resource.ServerSpec{
		BMCRef: resource.Ref{Name: bmc}, SegmentRef: resource.Ref{Name: segment}, BootMAC: mac, Architecture: "amd64",
	}}, name)
}

// Claim makes a valid Claim that names a server.
func Claim(name, server string) *resource.Claim {
	return object(&resource.Claim{Spec: resource.ClaimSpec{
		ServerRef: &resource.Ref{Name: server}, Power: resource.WantOn, Image: "registry.example/os:1",
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP},
	}}, name)
}

// Hold makes a valid Hold without an id.
func Hold(owner, key, server string) *resource.Hold {
	return object(&resource.Hold{Spec: resource.HoldSpec{Server: server, Owner: owner, HoldTerms: resource.HoldTerms{Key: key}}}, "")
}

// Site is one rack r1 with segment boot, BMCs b1 and b2 and servers n1 and n2.
func Site() []resource.Object {
	return []resource.Object{
		Rack("r1"), Segment("boot", "r1"), BMC("b1", "r1"), BMC("b2", "r1"),
		Server("n1", "b1", "boot", "52:54:00:00:00:01"), Server("n2", "b2", "boot", "52:54:00:00:00:02"),
	}
}

func object[T resource.Object](o T, name string) T {
	o.Head().Metadata.Name = name
	o.Default()
	return o
}
