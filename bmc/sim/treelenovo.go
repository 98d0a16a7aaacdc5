package sim

// LenovoTree is the shape of a ThinkSystem with XCC: no UefiHttp, no
// Continuous, pending settings with the boot order only, an order of classes,
// virtual media without actions.
func LenovoTree() *Tree { return &Tree{make: lenovo} }

func lenovo() resources {
	r := service(uriSystem, uriManager)
	r[uriEvents]["ServerSentEventUri"] = uriEvents + "/ServerSentEvent"
	own := boot("None", modeUEFI, "None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "Diags", "UefiTarget")
	own[bootEnabled+"@Redfish.AllowableValues"] = []string{"Once", "Disabled"}
	own[bootUEFI], own[bootOrder] = nil, []string{"Boot0001", "Boot0002", "Boot0003"}
	resets := []string{
		resetOn, resetNmi, resetGracefulShutdown, resetGracefulRestart, resetForceOn, resetForceOff, resetForceRestart,
	}
	r[uriSystem] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "1", "Name": "ComputerSystem", "SystemType": "Physical",
		"Manufacturer": "Lenovo", "Model": "ThinkSystem", "PowerState": "Off", "UUID": "6e0b5f2a-0000-4000-8000-000000000005",
		"Boot":    own,
		"Actions": actions(uriReset, uriResetInfo, resets...),
		"Bios":    link(uriBIOS), "VirtualMedia": link(uriSystem + "/VirtualMedia"),
		"EthernetInterfaces": link(uriSystem + "/EthernetInterfaces"),
		"@Redfish.Settings":  object{"SettingsObject": link(uriSystem + "/Pending")},
	}
	r[uriSystem+"/Pending"] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Pending", "Name": "Pending",
		"Boot": object{bootOrder: []string{"Boot0001", "Boot0002", "Boot0003"}},
	}
	r[uriResetInfo] = resetActionInfo(resets...)
	r[uriBIOS] = object{
		"@odata.type": "#Bios.v1_1_0.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        object{"NetworkStackSettings_IPv4HTTPSupport": "Disabled"},
		"@Redfish.Settings": object{"SettingsObject": link(uriBIOS + "/Pending")},
	}
	r.slot(uriSystem+"/VirtualMedia", "EXT1", false)
	r.ports(uriSystem, port{"NIC1", "02:00:00:00:00:05", "NIC"}, port{"ToManager", "02:00:00:00:ff:05", "Host to BMC"})
	r.options(uriSystem, option{"Boot0001", "Network", ""}, option{"Boot0002", "HardDisk", ""}, option{"Boot0003", "CD", ""})
	return r
}
