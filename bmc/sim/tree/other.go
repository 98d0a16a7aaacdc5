package tree

const (
	ciscoSystem   = SystemsURI + "/FCH00000000"
	fujitsuSystem = SystemsURI + "/0"
	fujitsuBoot   = fujitsuSystem + "/Oem/ts_fujitsu/BootConfig"
)

// Cisco is the shape of a UCS C220: the system's id is its serial number,
// and Boot has no Mode.
func Cisco() *Tree { return &Tree{make: cisco} }

func cisco() resources {
	r := service(ciscoSystem, ManagerURI)
	r[ciscoSystem] = plainSystem("Cisco Systems Inc", "UCSC-C220-M5SX", boot("None", "", "None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Diags"),
		actions(ciscoSystem+"/Actions/ComputerSystem.Reset", "",
			ResetOn, ResetForceOff, ResetGracefulShutdown, ResetGracefulRestart, ResetForceRestart, ResetNmi, ResetPowerCycle))
	return r
}

// Fujitsu is the shape of an iRMC: the override is written to a resource of
// the vendor's.
func Fujitsu() *Tree { return &Tree{make: fujitsu} }

func fujitsu() resources {
	r := service(fujitsuSystem, ManagerURI)
	r[fujitsuSystem] = plainSystem("FUJITSU", "PRIMERGY", boot("None", ModeUEFI, "None", "Pxe", "Cd", "Hdd", "BiosSetup"),
		actions(fujitsuSystem+"/Actions/ComputerSystem.Reset", "",
			ResetOn, ResetForceOff, ResetGracefulShutdown, ResetForceRestart, ResetNmi, ResetPushPowerButton))
	r[fujitsuBoot] = Object{
		"@odata.type": "#FTSBootConfig.v1_0_0.FTSBootConfig", "Id": "BootConfig", "Name": "Boot configuration",
		"BootDevice": "None", "NextBootOnlyEnabled": false,
	}
	return r
}

// Nokia is GenericTree with a settings resource that has the override.
func Nokia() *Tree { return &Tree{make: nokia} }

func nokia() resources {
	r := generic()
	r[SystemURI]["@Redfish.Settings"] = Object{"SettingsObject": Link(SystemURI + "/Settings")}
	r[SystemURI+"/Settings"] = Object{
		"@odata.type": "#ComputerSystem.v1_16_0.ComputerSystem", "Id": "Settings", "Name": "Settings",
		"Boot": boot("None", ModeUEFI, "None", "Pxe", "Hdd", "Cd", "UefiHttp"),
	}
	return r
}

// IBM is GenericTree of an OpenBMC from which the override was taken out.
func IBM() *Tree { return &Tree{make: ibm} }

func ibm() resources {
	r := generic()
	r[SystemURI]["Boot"] = Object{"AutomaticRetryConfig": "Disabled"}
	return r
}

func plainSystem(manufacturer, model string, boot, actions Object) Object {
	return Object{
		"@odata.type": "#ComputerSystem.v1_5_0.ComputerSystem", "Id": "0", "Name": "System", "SystemType": "Physical",
		"Manufacturer": manufacturer, "Model": model, "PowerState": "Off", "UUID": "71d3b7d2-0000-4000-8000-000000000009",
		"Boot": boot, "Actions": actions,
	}
}
