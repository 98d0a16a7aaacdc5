// Package sim is a BMC and the server behind it, for tests and for trying
// Rackboot without hardware: a Redfish service over TLS, a [Personality] that
// says how the vendor's firmware misbehaves, and a [Machine].
//
//	Redfish client ──► BMC (power state, override, personality)
//	                    │ PowerOn, Shutdown, PowerOff      ▲ Board: NextBoot,
//	                    ▼                                  │ BootConsumed, MachineChanged
//	                   Machine: Simulated ──► Firmware (a simulated UEFI client)
//	                            QEMU      ──► OVMF
//
// The override is consumed when the firmware picks its boot device, at the end
// of POST, and not when it is written or when power comes on: a controller that
// clears or re-sends it too early boots the wrong device here as on hardware.
//
// The package shares no code with the driver that talks to it.
package sim
