package tree

const (
	dellSystem  = SystemsURI + "/System.Embedded.1"
	dellManager = ManagersURI + "/iDRAC.Embedded.1"
)

// Dell is the shape of a PowerEdge with iDRAC9 6: the override in the
// system itself, reset types inline, HTTP boot by BIOS attributes.
func Dell() *Tree { return &Tree{make: dell} }

// DellSettings is the shape of iDRAC9 7.10: a settings resource that has the
// boot order and mode, and not the override.
func DellSettings() *Tree { return &Tree{make: dellSettings} }

func dellSettings() resources {
	r := dell()
	r[dellSystem]["@Redfish.Settings"] = Object{"SettingsObject": Link(dellSystem + "/Settings")}
	r[dellSystem+"/Settings"] = Object{
		"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": "Settings", "Name": "Settings",
		"Boot": Object{BootOrder: []string{}, BootMode: ModeUEFI, "StopBootOnFault": "Never", BootUEFI: nil},
	}
	return r
}

// IDRAC10 is the shape of iDRAC10: a settings resource that has the
// override, and virtual media at the system only.
func IDRAC10() *Tree { return &Tree{make: idrac10} }

func idrac10() resources {
	r := dell()
	delete(r[dellManager], "VirtualMedia")
	r[dellSystem]["@Redfish.Settings"] = Object{"SettingsObject": Link(dellSystem + "/Settings")}
	r[dellSystem+"/Settings"] = Object{
		"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": "Settings", "Name": "Settings",
		"Boot": boot("None", ModeUEFI, dellTargets()...),
	}
	return r
}

func dellTargets() []string {
	return []string{"None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Utilities", "UefiTarget", "SDCard", "UefiHttp"}
}

// DellDPUs is Dell with several NICs: the HTTP device is bound to another than the PXE device,
// and neither boot option shows an address.
func DellDPUs() *Tree { return &Tree{make: dellDPUs} }

func dellDPUs() resources {
	r := dell()
	attributes := r[dellSystem+"/Bios"]["Attributes"].(Object)
	attributes["HttpDev1EnDis"], attributes["HttpDev1Interface"] = "Enabled", "NIC.Slot.5-1"
	attributes["PxeDev1EnDis"], attributes["PxeDev1Interface"] = "Enabled", "NIC.Integrated.1-1-1"
	r.ports(dellSystem, port{"NIC.Slot.5-1", "02:00:00:00:05:01", "System Ethernet Interface"})
	r.adapter("System.Embedded.1", "NIC.Slot.5", "NIC.Slot.5-1", "02:00:00:00:05:01")
	r[dellSystem]["Links"] = Object{"Chassis": links(ChassisURI + "/System.Embedded.1")}
	r.options(dellSystem,
		option{"Boot0000", "PXE Device 1: Integrated NIC 1 Port 1 Partition 1", "VenHw(3A191845-5F86-4E78-8FCE-C4CFF59F9DAA)"},
		option{"Boot0003", "HTTP Device 1: NIC in Slot 5 Port 1", "VenHw(986D1755-B9D0-4F8D-A0DA-D1DB18672045)"})
	return r
}

func dell() resources {
	r := service(dellSystem, dellManager)
	r[EventsURI]["ServerSentEventUri"] = RootURI + "/SSE"
	r[EventsURI]["EventTypesForSubscription"] = []string{"Alert", "MetricReport", "Other"}
	r[SessionServiceURI]["SessionTimeout"] = 1800
	r[RootURI]["JobService"] = Link(RootURI + "/JobService")
	r[RootURI+"/JobService"] = Object{
		"@odata.type": "#JobService.v1_0_4.JobService", "Id": "JobService", "Name": "Jobs", "Jobs": Link(RootURI + "/JobService/Jobs"),
	}
	r[RootURI+"/JobService/Jobs"] = Collection("JobCollection")
	own := boot("None", ModeUEFI, dellTargets()...)
	own[BootUEFI] = nil
	r[dellSystem] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "System.Embedded.1", "Name": "System", "SystemType": "Physical",
		"Manufacturer": "Dell Inc.", "Model": "PowerEdge", "ProcessorSummary": processors("Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz"), "PowerState": "Off", "UUID": "4c4c4544-0000-4000-8000-000000000002",
		"Boot": own,
		"Actions": actions(dellSystem+"/Actions/ComputerSystem.Reset", "",
			ResetOn, ResetForceOff, ResetForceRestart, ResetGracefulRestart, ResetGracefulShutdown, ResetPushPowerButton, ResetNmi, ResetPowerCycle),
		"Bios": Link(dellSystem + "/Bios"), "SecureBoot": Link(dellSystem + "/SecureBoot"),
		"VirtualMedia": Link(dellSystem + "/VirtualMedia"), "EthernetInterfaces": Link(dellSystem + "/EthernetInterfaces"),
	}
	r[dellSystem+"/Bios"] = Object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes": Object{
			"BootMode": "Uefi", "AcPwrRcvry": "Last", "HttpDev1EnDis": "Disabled", "HttpDev1Interface": "NIC.Integrated.1-1-1",
			"HttpDev1Uri": "", "HttpDev1Protocol": "IPv4", "HttpDev1DhcpEnDis": "Enabled", "HttpDev1TlsMode": "None",
		},
		"@Redfish.Settings": Object{
			"SettingsObject": Link(dellSystem + "/Bios/Settings"), "SupportedApplyTimes": []string{"OnReset"},
		},
	}
	r[dellSystem+"/SecureBoot"] = Object{
		"@odata.type": "#SecureBoot.v1_0_6.SecureBoot", "Id": "SecureBoot", "Name": "Secure Boot", "SecureBootEnable": false,
	}
	r.slot(dellSystem+"/VirtualMedia", "1", true)
	r.slot(dellSystem+"/VirtualMedia", "2", true)
	r[dellManager]["VirtualMedia"] = Link(dellManager + "/VirtualMedia")
	r.slot(dellManager+"/VirtualMedia", "CD", true)
	r.ports(dellSystem, port{"NIC.Integrated.1-1-1", "02:00:00:00:00:02", "System Ethernet Interface"})
	r.adapter("System.Embedded.1", "NIC.Integrated.1", "NIC.Integrated.1-1-1", "02:00:00:00:00:02")
	r.options(dellSystem,
		option{"Boot0000", "PXE Device 1: Integrated NIC 1 Port 1 Partition 1", "VenHw(3A191845)"},
		option{"Boot0001", "Integrated RAID Controller 1: Disk", "HD(1,GPT)"})
	return r
}
