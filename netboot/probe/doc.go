// Package probe is what runs on a server that was booted from the network, as init of
// an initramfs or as a command of an installer: it finds the report URL of the boot,
// collects an inventory and posts a report. It runs on Linux.
//
// As init (process 1) it mounts /proc, /sys and /dev, loads the modules in
// /modules/list, brings the links up, gets a lease, listens for LLDP, reports, and
// switches the machine off. As a command it changes nothing.
package probe
