// Package host reads what a Linux system knows of its machine: SMBIOS, processors,
// memory, network interfaces and disks, from /sys and /proc. It reads a file system
// that it is given, sends nothing and changes nothing.
package host
