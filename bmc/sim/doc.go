// Package sim is a BMC and the servers behind it, for tests and for trying
// Rackboot without hardware: a Redfish service over TLS that serves a tree of
// resources, a [Personality] that says how the vendor's firmware misbehaves, and
// a machine for each [Host].
//
//	Redfish client ──► front ──► service: faults, sessions, accounts ──► router
//	                                                                       │
//	  root, accounts, sessions, events, jobs, updates ◄────────────────────┤
//	  Host: system, resetAction, override, bios, slots, powerLog ◄─────────┘
//	            │ power: on, off, shutdown      ▲ hardware.Board: NextBoot,
//	            ▼                               │ BootConsumed, MachineChanged
//	           hardware.Machine: Simulated ──► Firmware (a simulated UEFI client)
//	                             QEMU      ──► OVMF
//
// Each part has its own state, its own lock and its own routes, and knows the
// parts that it uses; [New] and newHost put them together. One request is
// answered at a time. Locks are taken in this order: that of the requests; power,
// override, bios and slots of a host; its supply; sessions, accounts, events and
// jobs; tags, manner and diary. No part calls one that stands before it.
//
// What a tree says lies in package tree: made by hand in the shape of a vendor's,
// or loaded from a folder. What lives is found in it by its links, as a client
// finds it, and laid over it: a BMC serves any vendor's tree.
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
