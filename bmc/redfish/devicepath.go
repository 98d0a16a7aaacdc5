package redfish

import (
	"slices"
	"strings"
)

// maxNodes bounds the nodes of a path that are looked at; firmware's have about ten.
const maxNodes = 64

// node is one node of a UEFI device path in its text form (UEFI 2.10 section 10.6).
type node struct {
	name string // in upper case: PCIROOT, MAC, USB; a file's path as it is written
	args string // what is between its brackets
}

// devicePath splits a path into its nodes. A separator between brackets separates nothing:
// Uri(https://host/boot.efi) is one node. What has no end bracket ends with the text.
func devicePath(text string) []node {
	var nodes []node
	for text != "" && len(nodes) < maxNodes {
		var part string
		part, text = firstNode(text)
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, args, ok := strings.Cut(part, "(")
		if !ok || strings.ContainsAny(name, `\.`) {
			nodes = append(nodes, node{name: part})
			continue
		}
		nodes = append(nodes, node{name: strings.ToUpper(strings.TrimSpace(name)), args: strings.TrimSuffix(args, ")")})
	}
	return nodes
}

// firstNode cuts the text at the first slash outside of brackets.
func firstNode(text string) (first, rest string) {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case '/':
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// pathMAC is the address of the interface at the end of a path, from a MAC node alone: the
// GUID of a vendor's node is the same on every machine of a kind (NVIDIA Grace). byUSB says
// that the interface hangs on USB: it is the host's end of the network to its BMC, and not
// the host's (Grace, AMI).
func pathMAC(nodes []node) (mac string, byUSB bool) {
	i := slices.IndexFunc(nodes, func(n node) bool { return n.name == "MAC" })
	if i < 0 {
		return "", false
	}
	address, _, _ := strings.Cut(nodes[i].args, ",")
	return macOf(address), throughUSB(nodes[:i])
}

// usbNodes are the nodes of what is plugged in by USB, in upper case.
var usbNodes = []string{"USB", "USBCLASS", "USBWWID"}

// throughUSB reports whether a path leads through USB.
func throughUSB(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return slices.Contains(usbNodes, n.name) })
}

// nameMAC is the address that the name of a boot option shows, in a form that is nothing
// else: six pairs with colons or dashes (HPE, AMI, Supermicro), twelve digits after MAC:
// (NVIDIA), or twelve digits that stand alone (Supermicro). A name that shows two addresses
// shows none.
func nameMAC(name string) (mac string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t()[]{},;=/|", r) }) {
		if len(word) > 4 && strings.EqualFold(word[:3], "mac") && (word[3] == ':' || word[3] == '-') {
			word = word[4:]
		}
		if !isMACWord(word) {
			continue
		}
		switch found := macOf(word); {
		case found == "":
		case mac != "" && mac != found:
			return ""
		default:
			mac = found
		}
	}
	return mac
}

// isMACWord tells an address from the end of a GUID, which has a dash before it.
func isMACWord(word string) bool {
	switch len(word) {
	case 17:
		return strings.Count(word, ":") == 5 || strings.Count(word, "-") == 5
	case 12:
		return !strings.ContainsAny(word, ":-.")
	}
	return false
}

// loaderArch is the architecture that a loader's file name says (UEFI 2.10 section 3.5.1.1
// and those of shim and GRUB): bootaa64.efi, shimx64.efi; empty if it says none.
func loaderArch(nodes []node) string {
	for _, n := range nodes {
		if n.args != "" {
			continue
		}
		file := strings.ToLower(n.name[strings.LastIndexAny(n.name, `\/`)+1:])
		stem, ok := strings.CutSuffix(file, ".efi")
		switch {
		case !ok:
		case strings.HasSuffix(stem, "aa64"), strings.HasSuffix(stem, "arm64"):
			return archARM
		case strings.HasSuffix(stem, "x64"), strings.HasSuffix(stem, "amd64"):
			return archX86
		}
	}
	return ""
}
