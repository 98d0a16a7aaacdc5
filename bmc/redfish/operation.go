package redfish

// Operations, as they stand in errors and metrics.
const (
	opObserve        = "bmc.observe"
	opCapabilities   = "bmc.capabilities"
	opSetBoot        = "bmc.set_boot"
	opReset          = "bmc.reset"
	opInventory      = "bmc.inventory"
	opProbe          = "bmc.probe"
	opFirmware       = "bmc.firmware"
	opWriteFirmware  = "bmc.write_firmware"
	opInsert         = "bmc.insert_media"
	opEject          = "bmc.eject_media"
	opRestore        = "bmc.restore_policy"
	opPowerLog       = "bmc.power_log"
	opEvents         = "bmc.events"
	opSubscribe      = "bmc.subscribe"
	opPutAccount     = "bmc.put_account"
	opDisableAccount = "bmc.disable_account"
	opProve          = "bmc.prove"
	opLogin          = "bmc.login"
	opLogout         = "bmc.logout"
)
