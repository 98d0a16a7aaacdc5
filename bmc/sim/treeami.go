package sim

const (
	amiSystem = uriSystems + "/Self"
	dgxSystem = uriSystems + "/DGX"
	hgxSystem = uriSystems + "/HGX_Baseboard_0"
)

// AMITree is the shape of AMI's MegaRAC (ASRock Rack, Lenovo with TSM): the
// override in a resource for the next reset, /redfish/v1/Systems/Self/SD, and
// an alias of boot options that is wrong.
func AMITree() *Tree {
	return &Tree{make: func() resources { return ami(amiSystem, "AMI", "MegaRAC") }}
}

// DGXTree is the shape of a DGX H100: AMI's, besides a baseboard that is no
// host, and a manager that names no server.
func DGXTree() *Tree { return &Tree{make: dgx} }

func dgx() resources {
	r := ami(dgxSystem, "NVIDIA", "DGXH100")
	const hgxManager = uriManagers + "/HGX_BMC_0"
	r[uriSystems] = collection("ComputerSystemCollection", hgxSystem, dgxSystem)
	r[hgxSystem] = baseboard()
	r[uriManagers] = collection("ManagerCollection", uriManager, hgxManager)
	r[uriManager]["Links"] = object{"ManagerForServers": links()}
	r[hgxManager] = object{
		"@odata.type": "#Manager.v1_12_0.Manager", "Id": "HGX_BMC_0", "Name": "Manager", "ManagerType": "BMC",
		"Links": object{"ManagerForServers": links(hgxSystem)},
	}
	return r
}

// baseboard is a system that is no host: always on, without reset and boot.
func baseboard() object {
	return object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "HGX_Baseboard_0", "Name": "HGX Baseboard",
		"Manufacturer": "NVIDIA", "PowerState": "On", "Boot": object{}, "UUID": nil, "SerialNumber": nil,
	}
}

func ami(system, manufacturer, model string) resources {
	r := service(system, uriManager)
	r[uriSessionSv]["SessionTimeout"] = 30
	info, bios := system+"/ResetActionInfo", system+"/Bios"
	r[system] = object{
		"@odata.type": "#ComputerSystem.v1_14_0.ComputerSystem", "Id": "Self", "Name": "System", "SystemType": "Physical",
		"Manufacturer": manufacturer, "Model": model, "PowerState": "Off", "UUID": "b1d0a6c8-0000-4000-8000-000000000006",
		"Boot":               object{bootTarget: nil, bootEnabled: "Disabled", bootMode: nil, bootURI: nil},
		"PowerRestorePolicy": "LastState",
		"Actions":            actions(system+"/Actions/ComputerSystem.Reset", info),
		"Bios":               link(bios), "EthernetInterfaces": link(system + "/EthernetInterfaces"),
		"@Redfish.Settings": object{"SettingsObject": link(system + "/SD")},
		"Oem":               object{"Ami": object{"FixedBootOrder": link(system + "/Oem/Ami/FixedBootOrder")}},
	}
	sd := boot("None", modeUEFI, "None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "UefiTarget", "UefiHttp")
	sd[bootURI] = nil
	r[system+"/SD"] = object{
		"@odata.type": "#ComputerSystem.v1_14_0.ComputerSystem", "Id": "SD", "Name": "System for the next reset", "Boot": sd,
	}
	r[system+"/Oem/Ami/FixedBootOrder"] = object{
		"@odata.type": "#AmiFixedBootOrder.v1_0_0.AmiFixedBootOrder", "Id": "FixedBootOrder", "Name": "Fixed boot order", "FixedBootOrder": "Disabled",
	}
	r[info] = resetActionInfo(resetOn, resetForceOff, resetForceRestart, resetGracefulShutdown)
	r[bios] = object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS", "Attributes": object{"SETUP001": "Enabled"},
		"@Redfish.Settings": object{"SettingsObject": link(bios + "/SD")},
	}
	r[uriManager]["VirtualMedia"] = link(uriManager + "/VirtualMedia")
	r.slot(uriManager+"/VirtualMedia", "CD1", true)
	r.ports(system, port{"1", "02:00:00:00:00:06", "NIC"})
	r.options(system,
		option{"Boot0003", "UEFI: PXE IPv6 Network Adapter", "PciRoot(0x0)/MAC(020000000006,0x1)/IPv6([::]:<->[::]:,0,0)"},
		option{"Boot0004", "UEFI: USB NIC", "PciRoot(0x0)/USB(0x2,0x0)/MAC(020000000106,0x1)"})
	// The order is not the main object's: only SD has it.
	delete(r[system]["Boot"].(object), bootOrder)
	r[system+"/BootOptions/Boot0003"]["Alias"] = "UefiHttp"
	r[system+"/BootOptions/Boot0004"]["Alias"] = "Usb"
	return r
}
