package tree

// EmptyMAC is GenericTree with a port that has no address.
func EmptyMAC() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.ports(SystemURI, port{"2", "", "NIC without an address"})
		return r
	}}
}

// StaleOptions is GenericTree with boot options, the first of a NIC that is
// gone.
func StaleOptions() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.options(SystemURI,
			option{"Boot0007", "UEFI HTTPv4 (MAC:0200000000EE)", "PciRoot(0x9)/MAC(0200000000EE,0x1)/IPv4(0.0.0.0)/Uri()"},
			option{"Boot0001", "UEFI HTTPv4 (MAC:020000000001)", "PciRoot(0x5)/MAC(020000000001,0x1)/IPv4(0.0.0.0)/Uri()"})
		return r
	}}
}

// DellTLS is DellTree as iDRAC10 ships it.
func DellTLS() *Tree {
	return &Tree{make: func() resources {
		r := dell()
		r[dellSystem+"/Bios"]["Attributes"].(Object)["HttpDev1TlsMode"] = "OneWay"
		return r
	}}
}

// DVD is GenericTree with a slot that lists DVD only.
func DVD() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r[SystemURI+"/VirtualMedia/1"]["MediaTypes"] = []string{"DVD"}
		return r
	}}
}
