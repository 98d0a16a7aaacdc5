package tree

// graceGUID begins the device paths of every Grace machine's own devices: its end is no
// address, and the same everywhere.
const graceGUID = "VenHw(1E5A432C-0466-4D31-B009-D4D9239271D3)/MemoryMapped(0xB,0x14120000,0x14121FFF)/PciRoot(0x5)"

// Grace is OpenBMC with the boot options of a GB200: the first network option is the BMC's own
// NIC, behind USB, and all paths begin with the vendor's GUID.
func Grace() *Tree { return &Tree{make: grace} }

func grace() resources {
	r := gb200()
	r[gbSystem]["ProcessorSummary"] = Object{"Count": 2, "Model": "Grace A02"}
	r.options(gbSystem,
		option{"Boot0001", "UEFI HTTPv4 (MAC:0200000000FE)", graceGUID + "/Pci(0x0,0x0)/USB(0x4,0x0)/USB(0x0,0x0)/MAC(0200000000FE,0x1)/IPv4(0.0.0.0)/Uri()"},
		option{"Boot0002", "UEFI HTTPv4 (MAC:020000000017)", graceGUID + "/Pci(0x0,0x0)/MAC(020000000017,0x1)/IPv4(0.0.0.0)/Uri()"},
		option{"Boot0003", "NVMe disk", graceGUID + "/Pci(0x1,0x0)/NVMe(0x1,00-00-00-00-00-00-00-01)"})
	return r
}

// GH200 is the shape of a GH200: its baseboard lists override targets and a reset as the host
// does, and the settings hold an override and an order without a list of targets.
func GH200() *Tree { return &Tree{make: gh200} }

func gh200() resources {
	r := gb200()
	r[gbSystem+"/Settings"]["Boot"] = Object{BootTarget: "Hdd", BootEnabled: "Continuous", BootOrder: []string{"Boot0001", "Boot0002"}}
	r[hgxSystem]["Boot"] = boot("None", "", openBMCTargets()...)
	r[hgxSystem]["Actions"] = actions(hgxSystem+"/Actions/ComputerSystem.Reset", "", ResetOn, ResetForceOff)
	r[SystemsURI] = Collection("ComputerSystemCollection", gbSystem, hgxSystem)
	return r
}
