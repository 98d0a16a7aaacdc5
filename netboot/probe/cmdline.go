package probe

import (
	"strings"

	"rackboot/netboot/chain"
)

// Kernel arguments. What comes twice has the last value, as with most programs.
const (
	argumentURL  = chain.ArgumentURL
	argumentMode = "rackboot.mode" // as the command's first argument, or discard
	modeDiscard  = "discard"       // as init only
	argumentCA   = "rackboot.ca"   // a path that begins with a slash, or a certificate in base64 (DER)
	argumentLLDP = "rackboot.lldp" // how long to listen, as 35s; 0s is not at all
	// argumentMAC is what PXELINUX, iPXE and GRUB tell of the interface that loaded
	// the kernel: 01-52-54-00-00-00-01.
	argumentMAC = "BOOTIF"
)

// maxCmdline is more than any kernel takes, in bytes.
const maxCmdline = 64 << 10

// arguments reads a kernel command line into its last values by name. Quotes hold
// words together, as the kernel has it (lib/cmdline.c, next_arg): they may begin at
// the name or at the value, and there are no escapes. What follows "--" is init's.
func arguments(line string) map[string]string {
	out := map[string]string{}
	line = line[:min(len(line), maxCmdline)]
	for len(line) > 0 {
		quoted, end := false, len(line)
		for i := range len(line) {
			if line[i] == '"' {
				quoted = !quoted
			} else if isSpace(line[i]) && !quoted {
				end = i
				break
			}
		}
		word := line[:end]
		line = strings.TrimLeftFunc(line[end:], func(c rune) bool { return c < 0x80 && isSpace(byte(c)) })
		if word == "--" {
			break
		}
		name, value, _ := strings.Cut(word, "=")
		name, whole := strings.CutPrefix(name, `"`)
		value = strings.TrimPrefix(value, `"`)
		if whole || strings.Contains(word, `"`) {
			value = strings.TrimSuffix(value, `"`)
		}
		if name != "" {
			out[name] = value
		}
	}
	return out
}

// isSpace is isspace of the kernel, for ASCII.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
