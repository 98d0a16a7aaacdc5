package sim

// inventoryPresets are about MAC addresses and identity: trees, mostly.
func inventoryPresets() []Personality {
	return []Personality{
		quirk("MACsInBootOptions", "NVIDIA GB200, GH200 (captured trees): no EthernetInterfaces", OpenBMCTree(), nil),
		quirk("HPEInterfaces", "HPE (captured tree): lower case, no PermanentMACAddress, no Status", HPETree(), nil),
		quirk("ToManager", "Supermicro, Lenovo (captured trees): the BMC's own NIC is listed", SupermicroTree(), nil),
		quirk("OptionNameMAC", "Supermicro (captured tree): an empty UefiDevicePath, the MAC in the name", SupermicroTree(), nil),
		quirk("EmptyMAC", "empty MAC addresses; OpenStack sushy", emptyMACTree(), nil),
		quirk("NullUUID", "NVIDIA BlueField-3 (captured tree)", BlueFieldTree(), nil),
		quirk("BMCUUID", "Supermicro (captured tree): the UUID is zeros and the BMC's MAC", SupermicroTree(), nil),
		quirk("StaleOptions", "NVIDIA GB300: options of NICs that are gone come before the intended one; NVIDIA/infra-controller #3582", staleOptionTree(), nil),
		quirk("WrongAlias", "AMI (captured tree): a PXE option with the alias UefiHttp", AMITree(), nil),
		quirk("EmptyManager", "NVIDIA DGX H100 (captured tree): the BMC is manager of no server", DGXTree(), nil),
	}
}

// emptyMACTree is GenericTree with a port that has no address.
func emptyMACTree() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.ports(uriSystem, port{"2", "", "NIC without an address"})
		return r
	}}
}

// staleOptionTree is GenericTree with boot options, the first of a NIC that is
// gone.
func staleOptionTree() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.options(uriSystem,
			option{"Boot0007", "UEFI HTTPv4 (MAC:0200000000EE)", "PciRoot(0x9)/MAC(0200000000EE,0x1)/IPv4(0.0.0.0)/Uri()"},
			option{"Boot0001", "UEFI HTTPv4 (MAC:020000000001)", "PciRoot(0x5)/MAC(020000000001,0x1)/IPv4(0.0.0.0)/Uri()"})
		return r
	}}
}
