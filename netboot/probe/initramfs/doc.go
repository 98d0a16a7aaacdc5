// Package initramfs builds the initramfs that a Linux kernel starts a program from: a
// cpio archive with the program as init and the kernel modules that it loads.
package initramfs
