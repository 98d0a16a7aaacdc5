package sim

const (
	gbSystem   = uriSystems + "/System_0"
	blueSystem = uriSystems + "/Bluefield"
)

// OpenBMCTree is the shape of a GB200: a baseboard that is no host, the
// override in a settings resource without Mode, no UefiHttp, and MAC addresses
// in the boot options only.
func OpenBMCTree() *Tree { return &Tree{make: gb200} }

func gb200() resources {
	r := openBMC(gbSystem, "GB200 NVL")
	r[uriSystems] = collection("ComputerSystemCollection", hgxSystem, gbSystem)
	r[hgxSystem] = baseboard()
	r[gbSystem]["Boot"] = boot("None", "", openBMCTargets()...)
	r[gbSystem+"/Settings"]["Boot"] = object{bootTarget: "None", bootEnabled: "Disabled", bootOrder: []string{}}
	r.options(gbSystem,
		option{"Boot0001", "UEFI PXEv4 (MAC:020000000007)", "PciRoot(0x5)/Pci(0x0,0x0)/MAC(020000000007,0x1)/IPv4(0.0.0.0)"},
		option{"Boot0002", "UEFI HTTPv4 (MAC:020000000007)", "PciRoot(0x5)/Pci(0x0,0x0)/MAC(020000000007,0x1)/IPv4(0.0.0.0)/Uri()"},
		option{"Boot0003", "UEFI Shell", "Fv(F3331DE6)/FvFile(C57AD6B7)"})
	return r
}

// BlueFieldTree is the shape of a BlueField-3: HttpBootUri, and a settings
// resource with other targets than the system itself.
func BlueFieldTree() *Tree { return &Tree{make: blueField} }

func blueField() resources {
	r := openBMC(blueSystem, "BlueField-3")
	own := boot("None", modeUEFI, append(openBMCTargets(), "UefiHttp", "UefiTarget")...)
	own[bootURI] = ""
	r[blueSystem]["Boot"] = own
	r[blueSystem]["UUID"] = nil
	settings := boot("None", modeUEFI, append(openBMCTargets(), "UefiTarget")...)
	settings[bootURI], settings[bootOrder] = "", []string{}
	r[blueSystem+"/Settings"]["Boot"] = settings
	r.options(blueSystem,
		option{"Boot0000", "NET-NIC_P0-IPV4", "MAC(020000000008,0x1)/IPv4(0.0.0.0)"},
		option{"Boot0001", "EFI Internal Shell", "Fv(5C60F367)"})
	return r
}

func openBMCTargets() []string {
	return []string{"None", "Pxe", "Hdd", "Diags", "Cd", "BiosSetup", "Usb"}
}

func openBMC(system, model string) resources {
	r := service(system, uriManager)
	r[uriSessionSv]["SessionTimeout"] = 1800
	info := system + "/ResetActionInfo"
	r[system] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": model, "Name": "System", "SystemType": "Physical",
		"Manufacturer": "NVIDIA", "Model": model, "PowerState": "Off", "SerialNumber": nil, "UUID": "9ac4e6f0-0000-4000-8000-000000000007",
		"PowerRestorePolicy": "AlwaysOn",
		"Actions":            actions(system+"/Actions/ComputerSystem.Reset", info),
		"@Redfish.Settings":  object{"SettingsObject": link(system + "/Settings")},
	}
	r[system+"/Settings"] = object{"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Settings", "Name": "Settings"}
	r[info] = resetActionInfo(
		resetForceOff, resetPowerCycle, resetNmi, resetGracefulShutdown, resetOn, resetForceOn, resetGracefulRestart, resetForceRestart)
	r[uriManager]["VirtualMedia"] = link(uriManager + "/VirtualMedia")
	r.slot(uriManager+"/VirtualMedia", "USB1", true)
	return r
}
