// Package boot is rackctl's verbs of what a server boots: boot environments, Ignition,
// certificates of HTTPS boot, the probe's initramfs, and the trace of a power-on.
package boot
