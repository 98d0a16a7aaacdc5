package tree

const (
	gbSystem   = SystemsURI + "/System_0"
	blueSystem = SystemsURI + "/Bluefield"
)

// OpenBMC is the shape of a GB200: a baseboard that is no host, the
// override in a settings resource without Mode, no UefiHttp, and MAC addresses
// in the boot options only.
func OpenBMC() *Tree { return &Tree{make: gb200} }

func gb200() resources {
	r := openBMC(gbSystem, "GB200 NVL")
	r[SystemsURI] = Collection("ComputerSystemCollection", hgxSystem, gbSystem)
	r[hgxSystem] = baseboard()
	r[gbSystem]["Boot"] = boot("None", "", openBMCTargets()...)
	r[gbSystem+"/Settings"]["Boot"] = Object{BootTarget: "None", BootEnabled: "Disabled", BootOrder: []string{}}
	r.options(gbSystem,
		option{"Boot0001", "UEFI PXEv4 (MAC:020000000007)", "PciRoot(0x5)/Pci(0x0,0x0)/MAC(020000000007,0x1)/IPv4(0.0.0.0)"},
		option{"Boot0002", "UEFI HTTPv4 (MAC:020000000007)", "PciRoot(0x5)/Pci(0x0,0x0)/MAC(020000000007,0x1)/IPv4(0.0.0.0)/Uri()"},
		option{"Boot0003", "UEFI Shell", "Fv(F3331DE6)/FvFile(C57AD6B7)"})
	return r
}

// BlueField is the shape of a BlueField-3: HttpBootUri, and a settings
// resource with other targets than the system itself.
func BlueField() *Tree { return &Tree{make: blueField} }

func blueField() resources {
	r := openBMC(blueSystem, "BlueField-3")
	own := boot("None", ModeUEFI, append(openBMCTargets(), "UefiHttp", "UefiTarget")...)
	own[BootURI] = ""
	r[blueSystem]["Boot"] = own
	r[blueSystem]["UUID"] = nil
	settings := boot("None", ModeUEFI, append(openBMCTargets(), "UefiTarget")...)
	settings[BootURI], settings[BootOrder] = "", []string{}
	r[blueSystem+"/Settings"]["Boot"] = settings
	r.options(blueSystem,
		option{"Boot0000", "NET-NIC_P0-IPV4", "MAC(020000000008,0x1)/IPv4(0.0.0.0)"},
		option{"Boot0001", "EFI Internal Shell", "Fv(5C60F367)"})
	return r
}

// BlueFieldCard is BlueField with the boot options of a card: one of the network to its host,
// whose address every card has, and a loader by whose name alone the architecture is known.
func BlueFieldCard() *Tree {
	return &Tree{make: func() resources {
		r := blueField()
		r.options(blueSystem,
			option{"Boot0000", "NET-OOB-IPV4", "MAC(001ACAFFFF01,0x1)/IPv4(0.0.0.0)"},
			option{"Boot0001", "NET-NIC_P0-IPV4", "VenHw(F019E406-8C9C-11E5-8797-001ACA00BFC4)/MAC(020000000008,0x1)/IPv4(0.0.0.0)"},
			option{"Boot0002", "ubuntu0", `HD(1,GPT,2FAFB38D-05F6-DF41-AE01-F9991E2CC0F0,0x800,0x19000)/\EFI\ubuntu\shimaa64.efi`})
		return r
	}}
}

func openBMCTargets() []string {
	return []string{"None", "Pxe", "Hdd", "Diags", "Cd", "BiosSetup", "Usb"}
}

func openBMC(system, model string) resources {
	r := service(system, ManagerURI)
	r[SessionServiceURI]["SessionTimeout"] = 1800
	info := system + "/ResetActionInfo"
	r[system] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": model, "Name": "System", "SystemType": "Physical",
		"Manufacturer": "NVIDIA", "Model": model, "PowerState": "Off", "SerialNumber": nil, "UUID": "9ac4e6f0-0000-4000-8000-000000000007",
		"PowerRestorePolicy": "AlwaysOn",
		"Actions":            actions(system+"/Actions/ComputerSystem.Reset", info),
		"@Redfish.Settings":  Object{"SettingsObject": Link(system + "/Settings")},
	}
	r[system+"/Settings"] = Object{"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Settings", "Name": "Settings"}
	r[info] = resetActionInfo(
		ResetForceOff, ResetPowerCycle, ResetNmi, ResetGracefulShutdown, ResetOn, ResetForceOn, ResetGracefulRestart, ResetForceRestart)
	r[ManagerURI]["VirtualMedia"] = Link(ManagerURI + "/VirtualMedia")
	r.slot(ManagerURI+"/VirtualMedia", "USB1", true)
	return r
}
