package sim

const (
	smcFixedOrder = uriSystem + "/Oem/Supermicro/FixedBootOrder"
	smcLog        = uriSystem + "/LogServices/Log1"
)

// SupermicroTree is the shape of an H100 generation server: reset types by
// ActionInfo only, the EFI shell last in the order, attribute names with
// suffixes, a power log.
func SupermicroTree() *Tree { return &Tree{make: supermicro} }

// SupermicroURITree is SupermicroTree of a newer generation, that has
// HttpBootUri.
func SupermicroURITree() *Tree { return &Tree{make: supermicroURI} }

func supermicroURI() resources {
	r := supermicro()
	r[uriSystem]["Boot"].(object)[bootURI] = nil
	return r
}

// X10Tree is the shape of a Supermicro X10: no Mode, and odd names of targets.
func X10Tree() *Tree { return &Tree{make: x10} }

func x10() resources {
	r := supermicro()
	r[uriSystem]["Boot"] = boot("None", "", "None", "Pxe", "Floppy", "CD/DVD", "Usb", "Hdd", "BiosSetup", "UefiHdd", "UsbKey")
	r[uriSystem]["Actions"] = actions(uriReset, "",
		resetOn, resetForceOff, resetGracefulShutdown, resetGracefulRestart, resetForceRestart, resetNmi, resetForceOn)
	delete(r, uriResetInfo)
	return r
}

func supermicro() resources {
	r := service(uriSystem, uriManager)
	delete(r[uriEvents], "ServerSentEventUri")
	own := boot("Pxe", modeUEFI, "None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "UsbCd", "UefiBootNext", "UefiHttp")
	own[bootNext] = nil
	r[uriSystem] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "1", "Name": "System", "SystemType": "Physical",
		"Manufacturer": "Supermicro", "Model": "SYS", "PowerState": "Off", "UUID": "00000000-0000-0000-0000-020000000004",
		"Boot":    own,
		"Actions": actions(uriReset, uriResetInfo),
		"Bios":    link(uriBIOS), "EthernetInterfaces": link(uriSystem + "/EthernetInterfaces"),
		"LogServices": link(uriSystem + "/LogServices"),
		"Oem":         object{"Supermicro": object{"FixedBootOrder": link(smcFixedOrder)}},
	}
	r[uriResetInfo] = resetActionInfo(
		resetOn, resetForceOff, resetGracefulShutdown, resetGracefulRestart, resetForceRestart, resetNmi, resetForceOn, resetPowerCycle)
	r[smcFixedOrder] = object{
		"@odata.type": "#SmcFixedBootOrder.v1_0_0.SmcFixedBootOrder", "Id": "FixedBootOrder", "Name": "Fixed boot order",
		"BootModeSelected": modeUEFI, "FixedBootOrder": []string{"UEFI Network", "UEFI Hard Disk", "UEFI CD/DVD"}, "UEFIHardDisk": "Enabled",
	}
	r[uriBIOS] = object{
		"@odata.type": "#Bios.v1_1_1.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        object{"IPv4HTTPSupport_00F5": "Disabled", "RestoreonACPowerLoss_0035": "Last State"},
		"@Redfish.Settings": object{"SettingsObject": link(uriBIOS + "/SD")},
	}
	r[uriManager]["VirtualMedia"] = link(uriManager + "/VirtualMedia")
	r.slot(uriManager+"/VirtualMedia", "VirtualMedia1", true)
	r.ports(uriSystem, port{"1", "02:00:00:00:00:04", "Ethernet Interface"}, port{"ToManager", "02:00:00:00:ff:04", "Host to BMC"})
	r.options(uriSystem,
		option{"Boot0019", "UEFI PXE IPv4 Network Adapter(MAC:020000000004)", ""},
		option{"Boot001A", "UEFI HTTP IPv4 Network Adapter - 02:00:00:00:00:04", ""},
		option{"Boot0018", "UEFI: Built-in EFI Shell", ""})
	r.join(uriSystem+"/LogServices", "LogServiceCollection", smcLog)
	r[smcLog] = object{"@odata.type": "#LogService.v1_1_3.LogService", "Id": "Log1", "Name": "Log", "Entries": link(smcLog + "/Entries")}
	r[smcLog+"/Entries"] = collection("LogEntryCollection")
	return r
}
