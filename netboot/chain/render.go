package chain

import (
	"slices"
	"strconv"
	"strings"

	"rackboot/netboot"
	"rackboot/protocol"
)

// ArgumentURL is the kernel argument with the base URL of the attempt: a booted image
// appends report/installed to it, and rootfs.squashfs where it has one. DHCP option 67
// says the same, for UKIs, whose command line is signed.
const ArgumentURL = "rackboot.url"

// PlaceURL in an image's command line stands for the value of [ArgumentURL], for images
// whose own argument says where the root file system is: coreos.live.rootfs_url of Fedora
// CoreOS (coreos/fedora-coreos-docs, live booting via PXE).
const PlaceURL = "@rackboot.url@"

// ArgumentIgnition is the kernel argument that Ignition takes its configuration from. It
// reads it in its first boot only, so that the image's own command line has the
// arguments that say which boot and platform this is.
const ArgumentIgnition = "ignition.config.url"

// plain says whether loaders hand a command line on as it is. GRUB puts backslashes
// before quotes and backslashes (grub_create_loader_cmdline); iPXE has no quotes at
// all, replaces ${...}, and takes ||, && and ; for its own (exec.c).
func plain(line string) bool {
	return !strings.ContainsAny(line, `"'\`) && !strings.Contains(line, "${") && !slices.ContainsFunc(strings.Fields(line), func(w string) bool {
		return w == "||" || w == "&&" || w == ";"
	})
}

// arguments are the kernel's, with the URL last: of an argument that comes twice the
// kernel and most programs take the last.
func arguments(c protocol.BootChain, base, token string) []string {
	out := strings.Fields(strings.ReplaceAll(c.CommandLine, PlaceURL, netboot.BootURL(base, token, "")))
	if c.Ignition {
		out = append(out, ArgumentIgnition+"="+netboot.BootURL(base, token, protocol.FileIgnition))
	}
	return append(out, ArgumentURL+"="+netboot.BootURL(base, token, ""))
}

// Arguments are what the kernel of a boot is told, on one line, for images that take them
// from the config image of virtual media.
func Arguments(c protocol.BootChain, base, token string) string {
	return strings.Join(arguments(c, base, token), " ")
}

// Config is GRUB's configuration for one boot. base is that of [netboot.BaseURL]. Files
// are named by their paths on the device that GRUB came from, its variable root, which
// has the address, port and protocol that firmware used. What cannot be loaded ends
// GRUB, and firmware goes on: nobody sits at its prompt.
func Config(c protocol.BootChain, base, token string) string {
	return config(token, kernel{FileKernel, []string{FileInitramfs}, arguments(c, base, token)})
}

// kernel is what a configuration or a script starts.
type kernel struct {
	name      string
	initrds   []string
	arguments []string
}

func config(token string, k kernel) string {
	path := func(name string) string { return single("/" + netboot.TFTPPath(token, name)) }
	var b strings.Builder
	b.WriteString("# This is the configuration of one boot.\n")
	b.WriteString("if linux " + path(k.name))
	for _, a := range k.arguments {
		b.WriteString(" " + single(a))
	}
	b.WriteString("; then\n")
	if len(k.initrds) == 0 {
		b.WriteString("  boot\nfi\n")
	} else {
		b.WriteString("  if initrd")
		for _, name := range k.initrds {
			b.WriteString(" " + path(name))
		}
		b.WriteString("; then\n    boot\n  fi\nfi\n")
	}
	b.WriteString("echo 'rackboot: the kernel could not be loaded'\nexit\n")
	return b.String()
}

// single quotes a word for GRUB: between single quotes nothing means anything, and a
// single quote cannot stand there (GRUB manual, section 6.2).
func single(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Script is iPXE's script for one boot, with absolute URLs: iPXE may have come by
// TFTP, and runs a script that it found next to itself before it has a route, though
// it knows the address that firmware had. It must not begin with anything but its magic. The kernel finds its initramfs
// by the argument initrd, which its EFI stub reads where iPXE is too old to offer it.
func Script(c protocol.BootChain, base, token string) string {
	return script(base, token, kernel{FileKernel, []string{FileInitramfs}, arguments(c, base, token)})
}

func script(base, token string, k kernel) string {
	url := func(name string) string { return netboot.BootURL(base, token, name) }
	var b strings.Builder
	b.WriteString("#!ipxe\n")
	b.WriteString("imgfree\ndhcp || goto failed\n")
	words := []string{"kernel", "--name", FileKernel, url(k.name)}
	names := initrdNames(len(k.initrds))
	for _, name := range names {
		words = append(words, "initrd="+name)
	}
	b.WriteString(strings.Join(append(words, k.arguments...), " ") + " || goto failed\n")
	for i, name := range names {
		b.WriteString("initrd --name " + name + " " + url(k.initrds[i]) + " || goto failed\n")
	}
	b.WriteString("boot || goto failed\n")
	b.WriteString(":failed\necho rackboot: the kernel could not be loaded\nexit 1\n")
	return b.String()
}

// initrdNames are the names of several initramfs in iPXE: the kernel's EFI stub reads each
// argument initrd, and puts the files one behind the other.
func initrdNames(n int) (names []string) {
	for i := range n {
		name := FileInitramfs
		if i > 0 {
			name += strconv.Itoa(i)
		}
		names = append(names, name)
	}
	return names
}
