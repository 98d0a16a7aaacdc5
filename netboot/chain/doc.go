// Package chain decides through which loaders a machine boots its image, and renders
// what the loaders are told. It is pure: [Choose] takes what the image has and which
// [Loaders] the site has, and [Config] and [Script] give the same text for the same
// attempt. Reading loaders from disk is somebody else's.
//
// # Chains
//
//	uki   firmware ─► UKI
//	grub  firmware ─► shim ─► GRUB ─► grub.cfg ─► kernel, initramfs
//	ipxe  firmware ─► (shim of iPXE ─►) iPXE ─► autoexec.ipxe ─► kernel, initramfs
//
// All files of a boot are below the path of its token, where shim finds its second
// file: it takes the path of its own up to the last slash and appends a name that is
// built into it. GRUB looks for its configuration in a folder that is built into it
// too, /grub in Debian's, so that it asks by a name without a token; [Lookup] takes
// both.
//
// # Sources
//
// shim: httpboot.c and netboot.c of rhboot/shim 16.1. iPXE: efi_autoexec.c, and the
// layout of ipxeboot.tar.gz of release 2.0. GRUB: net.c, and what Debian's signed
// image was seen to ask for.
package chain
