package tree

// The names of Boot's properties (Redfish ComputerSystem schema).
const (
	BootTarget  = "BootSourceOverrideTarget"
	BootEnabled = "BootSourceOverrideEnabled"
	BootMode    = "BootSourceOverrideMode"
	BootURI     = "HttpBootUri"
	BootUEFI    = "UefiTargetBootSourceOverride"
	BootNext    = "BootNext"
	BootOrder   = "BootOrder"

	ModeUEFI   = "UEFI"
	ModeLegacy = "Legacy"
)

// The reset types that the simulator knows (Redfish ResetType).
const (
	ResetOn               = "On"
	ResetForceOn          = "ForceOn"
	ResetForceOff         = "ForceOff"
	ResetGracefulShutdown = "GracefulShutdown"
	ResetGracefulRestart  = "GracefulRestart"
	ResetForceRestart     = "ForceRestart"
	ResetPowerCycle       = "PowerCycle"
	ResetPushPowerButton  = "PushPowerButton"
	ResetNmi              = "Nmi"
)

// What says which values are taken.
const (
	bootAllowed = BootTarget + "@Redfish.AllowableValues"
	ResetValues = "ResetType@Redfish.AllowableValues"
	ResetInfo   = "@Redfish.ActionInfo"
)
