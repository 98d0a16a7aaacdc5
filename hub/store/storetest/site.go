package storetest

import "rackboot/protocol"

// Rack makes a valid Rack.
func Rack(name string) *protocol.Rack {
	return object(&protocol.Rack{}, name)
}

// Segment makes a valid Segment of a rack.
func Segment(name, rack string) *protocol.Segment {
	return object(&protocol.Segment{Spec: protocol.SegmentSpec{
		RackRef: protocol.Ref{Name: rack}, Prefix: "10.7.0.0/24", Address: "10.7.0.1",
		Pool: protocol.Pool{From: "10.7.0.100", To: "10.7.0.200"},
	}}, name)
}

// BMC makes a valid BMC of a rack.
func BMC(name, rack string) *protocol.BMC {
	return object(&protocol.BMC{Spec: protocol.BMCSpec{
		RackRef: protocol.Ref{Name: rack}, Address: "http://127.0.0.1:8000", CredentialsRef: "local:" + name,
	}}, name)
}

// Server makes a valid Server.
func Server(name, bmc, segment, mac string) *protocol.Server {
	return object(&protocol.Server{Spec: protocol.ServerSpec{
		BMCRef: protocol.Ref{Name: bmc}, SegmentRef: protocol.Ref{Name: segment}, BootMAC: mac,
	}}, name)
}

// Claim makes a valid Claim that names a server.
func Claim(name, server string) *protocol.Claim {
	return object(&protocol.Claim{Spec: protocol.ClaimSpec{
		ServerRef: &protocol.Ref{Name: server}, Power: protocol.WantOn, Image: "registry.example/os:1",
		BootPolicy: protocol.BootPolicy{FirstBoot: protocol.FirstBootUefiHTTP},
	}}, name)
}

// Hold makes a valid Hold without an id.
func Hold(owner, key, server string) *protocol.Hold {
	return object(&protocol.Hold{Spec: protocol.HoldSpec{Server: server, Owner: owner, HoldTerms: protocol.HoldTerms{Key: key}}}, "")
}

// Site is one rack r1 with segment boot, BMCs b1 and b2 and servers n1 and n2.
func Site() []protocol.Object {
	return []protocol.Object{
		Rack("r1"), Segment("boot", "r1"), BMC("b1", "r1"), BMC("b2", "r1"),
		Server("n1", "b1", "boot", "52:54:00:00:00:01"), Server("n2", "b2", "boot", "52:54:00:00:00:02"),
	}
}

func object[T protocol.Object](o T, name string) T {
	o.Head().Metadata.Name = name
	o.Default()
	return o
}
