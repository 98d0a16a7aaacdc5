package tree

// HPE is the shape of a ProLiant with iLO 5: lower-case links with a slash
// at their end, virtual media at the manager, no PowerCycle, no stream of events.
func HPE() *Tree { return &Tree{make: hpe} }

func hpe() resources {
	const bios = "/redfish/v1/systems/1/bios/"
	r := service(SystemURI, ManagerURI)
	delete(r[EventsURI], "ServerSentEventUri")
	r[SessionServiceURI]["SessionTimeout"] = 30
	own := boot("None", ModeUEFI, "None", "Cd", "Hdd", "Usb", "SDCard", "Utilities", "Diags", "BiosSetup", "Pxe", "UefiShell", "UefiHttp", "UefiTarget")
	own[BootUEFI] = "None"
	r[SystemURI] = Object{
		"@odata.type": "#ComputerSystem.v1_17_0.ComputerSystem", "Id": "1", "Name": "Computer System", "SystemType": "Physical",
		"Manufacturer": "HPE", "Model": "ProLiant", "ProcessorSummary": processors("AMD EPYC 7763 64-Core Processor                "), "PowerState": "Off", "UUID": "34383350-0000-4000-8000-000000000003",
		"Boot": own,
		"Actions": actions(ResetURI, "",
			ResetOn, ResetForceOff, ResetGracefulShutdown, ResetForceRestart, ResetNmi, ResetPushPowerButton, ResetGracefulRestart),
		"Bios": Link(bios), "EthernetInterfaces": Link(SystemURI + "/EthernetInterfaces"),
		"Oem": Object{"Hpe": Object{"PostState": "PowerOff"}},
	}
	r[BIOSURI] = Object{
		"@odata.type": "#Bios.v1_0_4.Bios", "Id": "bios", "Name": "BIOS",
		"Attributes": Object{
			"EmbeddedUefiShell": "Enabled", "UefiShellBootOrder": "Disabled", "PreBootNetwork": "Auto",
			"UrlBootFile": "", "UrlBootFile2": "", "UrlBootFile3": "", "UrlBootFile4": "", "AutoPowerOn": "RestoreLastState",
		},
		"@Redfish.Settings": Object{"SettingsObject": Link(bios + "settings/")},
	}
	r[ManagerURI]["VirtualMedia"] = Link(ManagerURI + "/VirtualMedia")
	r.slot(ManagerURI+"/VirtualMedia", "1", true)
	r[ManagerURI+"/VirtualMedia/1"]["MediaTypes"] = []string{"Floppy", "USBStick"}
	r.slot(ManagerURI+"/VirtualMedia", "2", true)
	r.ports(SystemURI, port{"1", "02:00:00:00:0a:03", ""})
	for _, p := range []string{"PermanentMACAddress", "Status"} {
		delete(r[SystemURI+"/EthernetInterfaces/1"], p)
	}
	r.options(SystemURI,
		option{"Boot002A", "Slot 5 Port 1 : Network Adapter - 02:00:00:00:0A:03 (HTTP(S) IPv4)", "PciRoot(0x7)/Pci(0x1,0x1)/MAC(020000000A03,0x1)/IPv4(0.0.0.0)/Uri()"},
		option{"Boot002B", "Slot 5 Port 1 : Network Adapter - 02:00:00:00:0A:03 (PXE IPv4)", "PciRoot(0x7)/Pci(0x1,0x1)/MAC(020000000A03,0x1)/IPv4(0.0.0.0)"},
		option{"Boot0021", "Disk", "PciRoot(0x3)/NVMe(0x1)"})
	return r
}
