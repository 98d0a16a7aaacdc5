package tree

// The URIs of GenericTree.
const (
	RootURI           = "/redfish/v1"
	SystemsURI        = RootURI + "/Systems"
	SystemURI         = SystemsURI + "/1"
	BaseboardURI      = SystemsURI + "/HGX_Baseboard_0"
	ResetURI          = SystemURI + "/Actions/ComputerSystem.Reset"
	ResetInfoURI      = SystemURI + "/ResetActionInfo"
	ManagersURI       = RootURI + "/Managers"
	ManagerURI        = ManagersURI + "/1"
	ChassisURI        = RootURI + "/Chassis"
	SessionServiceURI = RootURI + "/SessionService"
	SessionsURI       = SessionServiceURI + "/Sessions"
	EventsURI         = RootURI + "/EventService"
	TasksURI          = RootURI + "/TaskService"
	UpdateURI         = RootURI + "/UpdateService"
	BIOSURI           = SystemURI + "/Bios"
)

// Generic is a BMC of no vendor with one system, /redfish/v1/Systems/1. Its
// Manufacturer and Model are empty.
func Generic() *Tree { return &Tree{make: generic} }

// TwoDrives is GenericTree with a second virtual drive.
func TwoDrives() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.slot(SystemURI+"/VirtualMedia", "2", true)
		return r
	}}
}

// Baseboard is GenericTree with a second system before the host, that is no
// host: without a reset, with an empty Boot.
func Baseboard() *Tree { return &Tree{make: withBaseboard} }

func withBaseboard() resources {
	r := generic()
	r[SystemsURI]["Members"] = links(BaseboardURI, SystemURI)
	r[SystemsURI]["Members@odata.count"] = 2
	r[BaseboardURI] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
		"Id":          "HGX_Baseboard_0", "Name": "HGX Baseboard", "PowerState": "On", "Boot": Object{}, "UUID": nil,
	}
	return r
}

// TwoHosts is GenericTree with two hosts, /redfish/v1/Systems/1 and 2.
func TwoHosts() *Tree { return &Tree{make: twoHosts} }

func twoHosts() resources {
	r := generic()
	second := Clone(r[SystemURI]).(Object)
	second["Id"], second["Name"] = "2", "System 2"
	const uri = SystemsURI + "/2"
	second["Actions"] = actions(uri+"/Actions/ComputerSystem.Reset", "", genericResets()...)
	delete(second, "Bios")
	delete(second, "VirtualMedia")
	r[uri] = second
	r[SystemsURI] = Collection("ComputerSystemCollection", SystemURI, uri)
	return r
}

func genericResets() []string {
	return []string{ResetOn, ResetForceOff, ResetGracefulShutdown, ResetForceRestart}
}

// generic is a BMC with everything in the place that the standard gives it.
func generic() resources {
	r := service(SystemURI, ManagerURI)
	r[SystemURI] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
		"Id":          "1", "Name": "System", "SystemType": "Physical", "Manufacturer": "", "Model": "",
		"ProcessorSummary": processors("x86-64"),
		"PowerState":       "Off", "UUID": "3f1c9a52-0000-4000-8000-000000000001",
		"Boot": boot("None", "UEFI", "None", "Pxe", "Hdd", "Cd", "UefiHttp"),
		"Actions": Object{"#ComputerSystem.Reset": Object{
			"target": ResetURI, ResetValues: genericResets(), ResetInfo: ResetInfoURI,
		}},
		"Bios": Link(BIOSURI), "VirtualMedia": Link(SystemURI + "/VirtualMedia"),
		"EthernetInterfaces": Link(SystemURI + "/EthernetInterfaces"),
		"Links":              Object{"ManagedBy": links(ManagerURI)},
	}
	r[ResetInfoURI] = resetActionInfo(genericResets()...)
	r[BIOSURI] = Object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        Object{"BootMode": "Uefi"},
		"@Redfish.Settings": Object{"SettingsObject": Link(BIOSURI + "/Settings")},
	}
	r.slot(SystemURI+"/VirtualMedia", "1", true)
	r.ports(SystemURI, port{"1", "02:00:00:00:00:01", "NIC"})
	return r
}

// processors is the summary of a host's two processors, as BMCs word it.
func processors(model string) Object { return Object{"Count": 2, "Model": model} }
