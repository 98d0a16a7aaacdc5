package tree

const (
	smcFixedOrder = SystemURI + "/Oem/Supermicro/FixedBootOrder"
	smcLog        = SystemURI + "/LogServices/Log1"
)

// Supermicro is the shape of an H100 generation server: reset types by
// ActionInfo only, the EFI shell last in the order, attribute names with
// suffixes, a power log.
func Supermicro() *Tree { return &Tree{make: supermicro} }

// SupermicroURI is SupermicroTree of a newer generation, that has
// HttpBootUri.
func SupermicroURI() *Tree { return &Tree{make: supermicroURI} }

func supermicroURI() resources {
	r := supermicro()
	r[SystemURI]["Boot"].(Object)[BootURI] = nil
	return r
}

// X10 is the shape of a Supermicro X10: no Mode, and odd names of targets.
func X10() *Tree { return &Tree{make: x10} }

func x10() resources {
	r := supermicro()
	r[SystemURI]["Boot"] = boot("None", "", "None", "Pxe", "Floppy", "CD/DVD", "Usb", "Hdd", "BiosSetup", "UefiHdd", "UsbKey")
	r[SystemURI]["Actions"] = actions(ResetURI, "",
		ResetOn, ResetForceOff, ResetGracefulShutdown, ResetGracefulRestart, ResetForceRestart, ResetNmi, ResetForceOn)
	delete(r, ResetInfoURI)
	return r
}

// SupermicroManagerLog is Supermicro whose power log is the manager's.
func SupermicroManagerLog() *Tree {
	return &Tree{make: func() resources {
		r := supermicro()
		const log = ManagerURI + "/LogServices/Log1"
		for _, uri := range []string{SystemURI + "/LogServices", smcLog, smcLog + "/Entries"} {
			delete(r, uri)
		}
		delete(r[SystemURI], "LogServices")
		r[ManagerURI]["LogServices"] = Link(ManagerURI + "/LogServices")
		r.join(ManagerURI+"/LogServices", "LogServiceCollection", log)
		r[log] = Object{"@odata.type": "#LogService.v1_1_3.LogService", "Id": "Log1", "Name": "Log", "Entries": Link(log + "/Entries")}
		r[log+"/Entries"] = Collection("LogEntryCollection")
		return r
	}}
}

func supermicro() resources {
	r := service(SystemURI, ManagerURI)
	delete(r[EventsURI], "ServerSentEventUri")
	own := boot("Pxe", ModeUEFI, "None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "UsbCd", "UefiBootNext", "UefiHttp")
	own[BootNext] = nil
	r[SystemURI] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "1", "Name": "System", "SystemType": "Physical",
		"Manufacturer": "Supermicro", "Model": "SYS", "ProcessorSummary": processors("Intel(R) Xeon(R) processor"), "PowerState": "Off", "UUID": "00000000-0000-0000-0000-020000000004",
		"Boot":    own,
		"Actions": actions(ResetURI, ResetInfoURI),
		"Bios":    Link(BIOSURI), "EthernetInterfaces": Link(SystemURI + "/EthernetInterfaces"),
		"LogServices": Link(SystemURI + "/LogServices"),
		"Oem":         Object{"Supermicro": Object{"FixedBootOrder": Link(smcFixedOrder)}},
	}
	r[ResetInfoURI] = resetActionInfo(
		ResetOn, ResetForceOff, ResetGracefulShutdown, ResetGracefulRestart, ResetForceRestart, ResetNmi, ResetForceOn, ResetPowerCycle)
	r[smcFixedOrder] = Object{
		"@odata.type": "#SmcFixedBootOrder.v1_0_0.SmcFixedBootOrder", "Id": "FixedBootOrder", "Name": "Fixed boot order",
		"BootModeSelected": ModeUEFI, "FixedBootOrder": []string{"UEFI Network", "UEFI Hard Disk", "UEFI CD/DVD"}, "UEFIHardDisk": "Enabled",
	}
	r[BIOSURI] = Object{
		"@odata.type": "#Bios.v1_1_1.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        Object{"IPv4HTTPSupport_00F5": "Disabled", "RestoreonACPowerLoss_0035": "Last State"},
		"@Redfish.Settings": Object{"SettingsObject": Link(BIOSURI + "/SD")},
	}
	r[ManagerURI]["VirtualMedia"] = Link(ManagerURI + "/VirtualMedia")
	r.slot(ManagerURI+"/VirtualMedia", "VirtualMedia1", true)
	r.ports(SystemURI, port{"1", "02:00:00:00:00:04", "Ethernet Interface"}, port{"ToManager", "02:00:00:00:ff:04", "Host to BMC"})
	r.options(SystemURI,
		option{"Boot0019", "UEFI PXE IPv4 Network Adapter(MAC:020000000004)", ""},
		option{"Boot001A", "UEFI HTTP IPv4 Network Adapter - 02:00:00:00:00:04", ""},
		option{"Boot0018", "UEFI: Built-in EFI Shell", ""})
	r.join(SystemURI+"/LogServices", "LogServiceCollection", smcLog)
	r[smcLog] = Object{"@odata.type": "#LogService.v1_1_3.LogService", "Id": "Log1", "Name": "Log", "Entries": Link(smcLog + "/Entries")}
	r[smcLog+"/Entries"] = Collection("LogEntryCollection")
	return r
}
