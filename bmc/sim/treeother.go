package sim

const (
	ciscoSystem   = uriSystems + "/FCH00000000"
	fujitsuSystem = uriSystems + "/0"
	fujitsuBoot   = fujitsuSystem + "/Oem/ts_fujitsu/BootConfig"
)

// CiscoTree is the shape of a UCS C220: the system's id is its serial number,
// and Boot has no Mode.
func CiscoTree() *Tree { return &Tree{make: cisco} }

func cisco() resources {
	r := service(ciscoSystem, uriManager)
	r[ciscoSystem] = plainSystem("Cisco Systems Inc", "UCSC-C220-M5SX", boot("None", "", "None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Diags"),
		actions(ciscoSystem+"/Actions/ComputerSystem.Reset", "",
			resetOn, resetForceOff, resetGracefulShutdown, resetGracefulRestart, resetForceRestart, resetNmi, resetPowerCycle))
	return r
}

// FujitsuTree is the shape of an iRMC: the override is written to a resource of
// the vendor's.
func FujitsuTree() *Tree { return &Tree{make: fujitsu} }

func fujitsu() resources {
	r := service(fujitsuSystem, uriManager)
	r[fujitsuSystem] = plainSystem("FUJITSU", "PRIMERGY", boot("None", modeUEFI, "None", "Pxe", "Cd", "Hdd", "BiosSetup"),
		actions(fujitsuSystem+"/Actions/ComputerSystem.Reset", "",
			resetOn, resetForceOff, resetGracefulShutdown, resetForceRestart, resetNmi, resetPushPowerButton))
	r[fujitsuBoot] = object{
		"@odata.type": "#FTSBootConfig.v1_0_0.FTSBootConfig", "Id": "BootConfig", "Name": "Boot configuration",
		"BootDevice": "None", "NextBootOnlyEnabled": false,
	}
	return r
}

// NokiaTree is GenericTree with a settings resource that has the override.
func NokiaTree() *Tree { return &Tree{make: nokia} }

func nokia() resources {
	r := generic()
	r[uriSystem]["@Redfish.Settings"] = object{"SettingsObject": link(uriSystem + "/Settings")}
	r[uriSystem+"/Settings"] = object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Settings", "Name": "Settings",
		"Boot": boot("None", modeUEFI, "None", "Pxe", "Hdd", "Cd", "UefiHttp"),
	}
	return r
}

// IBMTree is GenericTree of an OpenBMC from which the override was taken out.
func IBMTree() *Tree { return &Tree{make: ibm} }

func ibm() resources {
	r := generic()
	r[uriSystem]["Boot"] = object{"AutomaticRetryConfig": "Disabled"}
	return r
}

func plainSystem(manufacturer, model string, boot, actions object) object {
	return object{
		"@odata.type": "#ComputerSystem.v1_5_0.ComputerSystem", "Id": "0", "Name": "System", "SystemType": "Physical",
		"Manufacturer": manufacturer, "Model": model, "PowerState": "Off", "UUID": "71d3b7d2-0000-4000-8000-000000000009",
		"Boot": boot, "Actions": actions,
	}
}
