// Package sim is a BMC and the servers behind it, for tests and for trying
// Rackboot without hardware: a Redfish service over TLS that serves a [Tree], a
// [Personality] that says how the vendor's firmware misbehaves, and a [Machine]
// for each [Host].
//
//	Redfish client ──► BMC (tree; over it power, boot, BIOS, media, sessions, events)
//	                    │ PowerOn, Shutdown, PowerOff      ▲ Board: NextBoot,
//	                    ▼                                  │ BootConsumed, MachineChanged
//	                   Machine: Simulated ──► Firmware (a simulated UEFI client)
//	                            QEMU      ──► OVMF
//
// The tree is made by hand in the shape of a vendor's, or loaded from a folder
// by [LoadTree]. What lives is found in it by its links, as a client finds it,
// and laid over it: a BMC serves any vendor's tree.
//
// The override is consumed when the firmware picks its boot device, at the end
// of POST, and not when it is written or when power comes on: a controller that
// clears or re-sends it too early boots the wrong device here as on hardware.
// BIOS attributes, SecureBoot and pending boot settings count from the next
// reset on.
//
// [Presets] are the personalities of which there is a report. Each has a trace
// in testdata/traces, in a format of its own: what was asked and what was seen.
// A preset must play its trace, and a BMC without the preset's quirk must fail
// at the step that shows it. [Fault] changes single answers on top.
//
// The package shares no code with the driver that talks to it.
package sim
