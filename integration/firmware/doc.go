// Package firmware holds the tests with real firmware: OVMF in QEMU, in network
// namespaces that the run makes itself, booting what integration/uki builds. They
// need root and the packages that integration/packages installs.
//
//	hub ── router ─┬─ rack-a: agent ─ bridge ─ tap ─ QEMU with OVMF
//	               └─ rack-b: agent ─ bridge ─ cable ─ server-b: simulated firmware
//
// Both racks use the same subnet and the same addresses. The router lets racks
// dial out, and nothing in.
package firmware
