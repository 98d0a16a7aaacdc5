package eventlog

import "fmt"

// Type is the eventType of an event. It is in no digest: who edits a log can give an event
// another type, and the log replays as before.
type Type uint32

// Types of events (PFP 1.06 section 10.4.1).
const (
	PrebootCert                Type = 0x00000000
	PostCode                   Type = 0x00000001
	NoAction                   Type = 0x00000003
	Separator                  Type = 0x00000004
	Action                     Type = 0x00000005
	EventTag                   Type = 0x00000006
	CRTMContents               Type = 0x00000007
	CRTMVersion                Type = 0x00000008
	CPUMicrocode               Type = 0x00000009
	PlatformConfigFlags        Type = 0x0000000a
	TableOfDevices             Type = 0x0000000b
	CompactHash                Type = 0x0000000c
	IPL                        Type = 0x0000000d
	IPLPartitionData           Type = 0x0000000e
	NonhostCode                Type = 0x0000000f
	NonhostConfig              Type = 0x00000010
	NonhostInfo                Type = 0x00000011
	OmitBootDeviceEvents       Type = 0x00000012
	PostCode2                  Type = 0x00000013
	EFIVariableDriverConfig    Type = 0x80000001
	EFIVariableBoot            Type = 0x80000002
	EFIBootServicesApplication Type = 0x80000003
	EFIBootServicesDriver      Type = 0x80000004
	EFIRuntimeServicesDriver   Type = 0x80000005
	EFIGPTEvent                Type = 0x80000006
	EFIAction                  Type = 0x80000007
	EFIPlatformFirmwareBlob    Type = 0x80000008
	EFIHandoffTables           Type = 0x80000009
	EFIPlatformFirmwareBlob2   Type = 0x8000000a
	EFIHandoffTables2          Type = 0x8000000b
	EFIVariableBoot2           Type = 0x8000000c
	EFIGPTEvent2               Type = 0x8000000d
	EFIHCRTMEvent              Type = 0x80000010
	EFIVariableAuthority       Type = 0x800000e0
	EFISPDMFirmwareBlob        Type = 0x800000e1
	EFISPDMFirmwareConfig      Type = 0x800000e2
	EFISPDMDevicePolicy        Type = 0x800000e3
	EFISPDMDeviceAuthority     Type = 0x800000e4
)

// String is the type's name in the specification.
func (t Type) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("event type %#08x", uint32(t))
}

var typeNames = map[Type]string{
	PrebootCert: "EV_PREBOOT_CERT", PostCode: "EV_POST_CODE", NoAction: "EV_NO_ACTION", Separator: "EV_SEPARATOR",
	Action: "EV_ACTION", EventTag: "EV_EVENT_TAG", CRTMContents: "EV_S_CRTM_CONTENTS", CRTMVersion: "EV_S_CRTM_VERSION",
	CPUMicrocode: "EV_CPU_MICROCODE", PlatformConfigFlags: "EV_PLATFORM_CONFIG_FLAGS", TableOfDevices: "EV_TABLE_OF_DEVICES",
	CompactHash: "EV_COMPACT_HASH", IPL: "EV_IPL", IPLPartitionData: "EV_IPL_PARTITION_DATA", NonhostCode: "EV_NONHOST_CODE",
	NonhostConfig: "EV_NONHOST_CONFIG", NonhostInfo: "EV_NONHOST_INFO", OmitBootDeviceEvents: "EV_OMIT_BOOT_DEVICE_EVENTS",
	PostCode2: "EV_POST_CODE2", EFIVariableDriverConfig: "EV_EFI_VARIABLE_DRIVER_CONFIG", EFIVariableBoot: "EV_EFI_VARIABLE_BOOT",
	EFIBootServicesApplication: "EV_EFI_BOOT_SERVICES_APPLICATION", EFIBootServicesDriver: "EV_EFI_BOOT_SERVICES_DRIVER",
	EFIRuntimeServicesDriver: "EV_EFI_RUNTIME_SERVICES_DRIVER", EFIGPTEvent: "EV_EFI_GPT_EVENT", EFIAction: "EV_EFI_ACTION",
	EFIPlatformFirmwareBlob: "EV_EFI_PLATFORM_FIRMWARE_BLOB", EFIHandoffTables: "EV_EFI_HANDOFF_TABLES",
	EFIPlatformFirmwareBlob2: "EV_EFI_PLATFORM_FIRMWARE_BLOB2", EFIHandoffTables2: "EV_EFI_HANDOFF_TABLES2",
	EFIVariableBoot2: "EV_EFI_VARIABLE_BOOT2", EFIGPTEvent2: "EV_EFI_GPT_EVENT2", EFIHCRTMEvent: "EV_EFI_HCRTM_EVENT",
	EFIVariableAuthority: "EV_EFI_VARIABLE_AUTHORITY", EFISPDMFirmwareBlob: "EV_EFI_SPDM_FIRMWARE_BLOB",
	EFISPDMFirmwareConfig: "EV_EFI_SPDM_FIRMWARE_CONFIG", EFISPDMDevicePolicy: "EV_EFI_SPDM_DEVICE_POLICY",
	EFISPDMDeviceAuthority: "EV_EFI_SPDM_DEVICE_AUTHORITY",
}
