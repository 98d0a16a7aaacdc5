// Package hardware is the servers behind a simulated BMC: a [Machine] is driven by its
// BMC and sees it as a [Board]. [Simulated] boots by a [Firmware], [QEMU] by OVMF.
//
// A machine calls its board without holding locks, and its board never waits for it.
package hardware
