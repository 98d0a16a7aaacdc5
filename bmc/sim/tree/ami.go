package tree

const (
	amiSystem = SystemsURI + "/Self"
	dgxSystem = SystemsURI + "/DGX"
	hgxSystem = SystemsURI + "/HGX_Baseboard_0"
)

// AMI is the shape of AMI's MegaRAC (ASRock Rack, Lenovo with TSM): the
// override in a resource for the next reset, /redfish/v1/Systems/Self/SD, and
// an alias of boot options that is wrong.
func AMI() *Tree {
	return &Tree{make: func() resources { return ami(amiSystem, "AMI", "MegaRAC") }}
}

// DGX is the shape of a DGX H100: AMI's, besides a baseboard that is no
// host, and a manager that names no server.
func DGX() *Tree { return &Tree{make: dgx} }

func dgx() resources {
	r := ami(dgxSystem, "NVIDIA", "DGXH100")
	const hgxManager = ManagersURI + "/HGX_BMC_0"
	r[SystemsURI] = Collection("ComputerSystemCollection", hgxSystem, dgxSystem)
	r[hgxSystem] = baseboard()
	r[ManagersURI] = Collection("ManagerCollection", ManagerURI, hgxManager)
	r[ManagerURI]["Links"] = Object{"ManagerForServers": links()}
	r[hgxManager] = Object{
		"@odata.type": "#Manager.v1_12_0.Manager", "Id": "HGX_BMC_0", "Name": "Manager", "ManagerType": "BMC",
		"Links": Object{"ManagerForServers": links(hgxSystem)},
	}
	return r
}

// DGXNames is DGX with boot options as a DGX H100 names them, and the BMC's USB NIC first.
func DGXNames() *Tree {
	return &Tree{make: func() resources {
		r := dgx()
		r.options(dgxSystem,
			option{"Boot0005", "UEFI: PXE IPv4 American Megatrends Virtual Ethernet - 02:00:00:00:01:16", "PciRoot(0x0)/Pci(0x14,0x0)/USB(0xA,0x0)/USB(0x2,0x1)/MAC(020000000116,0x1)/IPv4(0.0.0.0)"},
			option{"Boot0006", "UEFI: PXE IPv4 Nvidia Network Adapter - 02:00:00:00:00:26", ""})
		return r
	}}
}

// baseboard is a system that is no host: always on, without reset and boot.
func baseboard() Object {
	return Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "HGX_Baseboard_0", "Name": "HGX Baseboard",
		"Manufacturer": "NVIDIA", "PowerState": "On", "Boot": Object{}, "UUID": nil, "SerialNumber": nil,
	}
}

func ami(system, manufacturer, model string) resources {
	r := service(system, ManagerURI)
	r[SessionServiceURI]["SessionTimeout"] = 30
	info, bios := system+"/ResetActionInfo", system+"/Bios"
	r[system] = Object{
		"@odata.type": "#ComputerSystem.v1_14_0.ComputerSystem", "Id": "Self", "Name": "System", "SystemType": "Physical",
		"Manufacturer": manufacturer, "Model": model, "PowerState": "Off", "UUID": "b1d0a6c8-0000-4000-8000-000000000006",
		"Boot":               Object{BootTarget: nil, BootEnabled: "Disabled", BootMode: nil, BootURI: nil},
		"PowerRestorePolicy": "LastState",
		"Actions":            actions(system+"/Actions/ComputerSystem.Reset", info),
		"Bios":               Link(bios), "EthernetInterfaces": Link(system + "/EthernetInterfaces"),
		"@Redfish.Settings": Object{"SettingsObject": Link(system + "/SD")},
		"Oem":               Object{"Ami": Object{"FixedBootOrder": Link(system + "/Oem/Ami/FixedBootOrder")}},
	}
	sd := boot("None", ModeUEFI, "None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "UefiTarget", "UefiHttp")
	sd[BootURI] = nil
	r[system+"/SD"] = Object{
		"@odata.type": "#ComputerSystem.v1_14_0.ComputerSystem", "Id": "SD", "Name": "System for the next reset", "Boot": sd,
	}
	r[system+"/Oem/Ami/FixedBootOrder"] = Object{
		"@odata.type": "#AmiFixedBootOrder.v1_0_0.AmiFixedBootOrder", "Id": "FixedBootOrder", "Name": "Fixed boot order", "FixedBootOrder": "Disabled",
	}
	r[info] = resetActionInfo(ResetOn, ResetForceOff, ResetForceRestart, ResetGracefulShutdown)
	r[bios] = Object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS", "Attributes": Object{"SETUP001": "Enabled"},
		"@Redfish.Settings": Object{"SettingsObject": Link(bios + "/SD")},
	}
	r[ManagerURI]["VirtualMedia"] = Link(ManagerURI + "/VirtualMedia")
	r.slot(ManagerURI+"/VirtualMedia", "CD1", true)
	r.ports(system, port{"1", "02:00:00:00:00:06", "NIC"})
	r.options(system,
		option{"Boot0003", "UEFI: PXE IPv6 Network Adapter", "PciRoot(0x0)/MAC(020000000006,0x1)/IPv6([::]:<->[::]:,0,0)"},
		option{"Boot0004", "UEFI: USB NIC", "PciRoot(0x0)/USB(0x2,0x0)/MAC(020000000106,0x1)"})
	// The order is not the main object's: only SD has it.
	main := r[system]["Boot"].(Object)
	sd[BootOrder] = main[BootOrder]
	delete(main, BootOrder)
	r[system+"/BootOptions/Boot0003"]["Alias"] = "UefiHttp"
	r[system+"/BootOptions/Boot0004"]["Alias"] = "Usb"
	return r
}
