package tree

// Lenovo is the shape of a ThinkSystem with XCC: no UefiHttp, no
// Continuous, pending settings with the boot order only, an order of classes,
// virtual media without actions.
func Lenovo() *Tree { return &Tree{make: lenovo} }

// LenovoHTTP is Lenovo whose firmware has HTTP on and PXE off.
func LenovoHTTP() *Tree {
	return &Tree{make: func() resources {
		r := lenovo()
		r[BIOSURI]["Attributes"] = Object{"NetworkStackSettings_IPv4PXESupport": "Disabled", "NetworkStackSettings_IPv4HTTPSupport": "Enabled"}
		return r
	}}
}

func lenovo() resources {
	r := service(SystemURI, ManagerURI)
	r[EventsURI]["ServerSentEventUri"] = EventsURI + "/ServerSentEvent"
	own := boot("None", ModeUEFI, "None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "Diags", "UefiTarget")
	own[BootEnabled+"@Redfish.AllowableValues"] = []string{"Once", "Disabled"}
	own[BootUEFI], own[BootOrder] = nil, []string{"Boot0001", "Boot0002", "Boot0003"}
	resets := []string{
		ResetOn, ResetNmi, ResetGracefulShutdown, ResetGracefulRestart, ResetForceOn, ResetForceOff, ResetForceRestart,
	}
	r[SystemURI] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "1", "Name": "ComputerSystem", "SystemType": "Physical",
		"Manufacturer": "Lenovo", "Model": "ThinkSystem", "PowerState": "Off", "UUID": "6e0b5f2a-0000-4000-8000-000000000005",
		"Boot":    own,
		"Actions": actions(ResetURI, ResetInfoURI, resets...),
		"Bios":    Link(BIOSURI), "VirtualMedia": Link(SystemURI + "/VirtualMedia"),
		"EthernetInterfaces": Link(SystemURI + "/EthernetInterfaces"),
		"@Redfish.Settings":  Object{"SettingsObject": Link(SystemURI + "/Pending")},
	}
	r[SystemURI+"/Pending"] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Pending", "Name": "Pending",
		"Boot": Object{BootOrder: []string{"Boot0001", "Boot0002", "Boot0003"}},
	}
	r[ResetInfoURI] = resetActionInfo(resets...)
	r[BIOSURI] = Object{
		"@odata.type": "#Bios.v1_1_0.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        Object{"NetworkStackSettings_IPv4HTTPSupport": "Disabled"},
		"@Redfish.Settings": Object{"SettingsObject": Link(BIOSURI + "/Pending")},
	}
	r.slot(SystemURI+"/VirtualMedia", "EXT1", false)
	r.ports(SystemURI, port{"NIC1", "02:00:00:00:00:05", "NIC"}, port{"ToManager", "02:00:00:00:ff:05", "Host to BMC"})
	r.options(SystemURI, option{"Boot0001", "Network", ""}, option{"Boot0002", "HardDisk", ""}, option{"Boot0003", "CD", ""})
	return r
}
