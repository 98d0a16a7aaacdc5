package sim

// The URIs of GenericTree.
const (
	uriBaseboard = uriSystems + "/HGX_Baseboard_0"
	uriReset     = uriSystem + "/Actions/ComputerSystem.Reset"
	uriResetInfo = uriSystem + "/ResetActionInfo"
	uriManagers  = uriRoot + "/Managers"
	uriManager   = uriManagers + "/1"
	uriChassis   = uriRoot + "/Chassis"
	uriSessionSv = uriRoot + "/SessionService"
	uriSessions  = uriSessionSv + "/Sessions"
	uriEvents    = uriRoot + "/EventService"
	uriTasks     = uriRoot + "/TaskService"
	uriUpdate    = uriRoot + "/UpdateService"
	uriBIOS      = uriSystem + "/Bios"
)

// GenericTree is a BMC of no vendor with one system, /redfish/v1/Systems/1. Its
// Manufacturer and Model are empty.
func GenericTree() *Tree { return &Tree{make: generic} }

// TwoDriveTree is GenericTree with a second virtual drive.
func TwoDriveTree() *Tree {
	return &Tree{make: func() resources {
		r := generic()
		r.slot(uriSystem+"/VirtualMedia", "2", true)
		return r
	}}
}

// BaseboardTree is GenericTree with a second system before the host, that is no
// host: without a reset, with an empty Boot.
func BaseboardTree() *Tree { return &Tree{make: withBaseboard} }

func withBaseboard() resources {
	r := generic()
	r[uriSystems]["Members"] = links(uriBaseboard, uriSystem)
	r[uriSystems]["Members@odata.count"] = 2
	r[uriBaseboard] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
		"Id":          "HGX_Baseboard_0", "Name": "HGX Baseboard", "PowerState": "On", "Boot": object{}, "UUID": nil,
	}
	return r
}

// TwoHostTree is GenericTree with two hosts, /redfish/v1/Systems/1 and 2.
func TwoHostTree() *Tree { return &Tree{make: twoHosts} }

func twoHosts() resources {
	r := generic()
	second := clone(r[uriSystem]).(object)
	second["Id"], second["Name"] = "2", "System 2"
	const uri = uriSystems + "/2"
	second["Actions"] = actions(uri+"/Actions/ComputerSystem.Reset", "", genericResets()...)
	delete(second, "Bios")
	delete(second, "VirtualMedia")
	r[uri] = second
	r[uriSystems] = collection("ComputerSystemCollection", uriSystem, uri)
	return r
}

func genericResets() []string {
	return []string{resetOn, resetForceOff, resetGracefulShutdown, resetForceRestart}
}

// generic is a BMC with everything in the place that the standard gives it.
func generic() resources {
	r := service(uriSystem, uriManager)
	r[uriSystem] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem",
		"Id":          "1", "Name": "System", "SystemType": "Physical", "Manufacturer": "", "Model": "",
		"PowerState": "Off", "UUID": "3f1c9a52-0000-4000-8000-000000000001",
		"Boot": boot("None", "UEFI", "None", "Pxe", "Hdd", "Cd", "UefiHttp"),
		"Actions": object{"#ComputerSystem.Reset": object{
			"target": uriReset, resetValues: genericResets(), resetInfo: uriResetInfo,
		}},
		"Bios": link(uriBIOS), "VirtualMedia": link(uriSystem + "/VirtualMedia"),
		"EthernetInterfaces": link(uriSystem + "/EthernetInterfaces"),
	}
	r[uriResetInfo] = resetActionInfo(genericResets()...)
	r[uriBIOS] = object{
		"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS",
		"Attributes":        object{"BootMode": "Uefi"},
		"@Redfish.Settings": object{"SettingsObject": link(uriBIOS + "/Settings")},
	}
	r.slot(uriSystem+"/VirtualMedia", "1", true)
	r.ports(uriSystem, port{"1", "02:00:00:00:00:01", "NIC"})
	return r
}
