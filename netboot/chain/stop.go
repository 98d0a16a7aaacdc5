package chain

import (
	"fmt"
	"path"
	"strings"
	"time"

	"rackboot/protocol"
)

// Stop gives the chain that ends in a program which waits: shim and GRUB of the
// distribution, which Secure Boot lets pass, with [StopConfig]. http is that firmware
// loads it by UEFI HTTP boot. The error is unsupported.
func Stop(cpu string, have Loaders, http bool) (protocol.BootChain, error) {
	r := Request{Architecture: cpu, Loaders: have}
	switch l := r.loads(protocol.ChainGRUB); {
	case l == loadsNone:
		return noStop(cpu, noLoader)
	case l == loadsTFTP && http:
		return noStop(cpu, noHTTP)
	}
	c := protocol.BootChain{Kind: protocol.ChainGRUB, First: served(cpu, RoleShim), Last: configName}
	for _, role := range []Role{RoleShim, RoleGRUB} {
		c.Files = append(c.Files, protocol.ChainFile{Name: served(cpu, role), Digest: have[role].Digest})
	}
	return c, nil
}

func noStop(cpu string, v verdict) (protocol.BootChain, error) {
	return protocol.BootChain{}, protocol.Errorf(protocol.CodeUnsupported, "choose stop image", "no stop image for %s: %s", cpu, v).WithHint("%s", v.hint(cpu))
}

// LookupStop is [Lookup] for a chain of Stop. waits says that what was found is what the
// machine waits with.
func LookupStop(c protocol.BootChain, name, server string, after time.Duration) (f Found, waits, ok bool) {
	if f.Digest, ok = c.Digest(name); ok {
		return f, false, true
	}
	switch base := strings.ToLower(path.Base(name)); {
	case base == configName, strings.HasPrefix(base, configName+"-"):
		return Found{Text: StopConfig(server, after)}, true, true
	case base == protocol.IPXEScript:
		return Found{Text: stopScript(server, after)}, true, true
	}
	return Found{}, false, false
}

// stopText is what a person at the console reads.
func stopText(server string, after time.Duration) []string {
	lines := []string{
		"Rackboot: " + server + " was started without an order, and is stopped here.",
		"Its disk was not booted. Find what started it, then boot it on by",
		"  rackctl resume " + server + " --reason REASON",
	}
	if after > 0 {
		lines = append(lines, "It powers itself off "+after.String()+" after its start.")
	}
	return lines
}

// stopNap is one sleep of the loop that waits for ever, in seconds.
const stopNap = 3600

// StopConfig is GRUB's configuration that waits, and powers the machine off after a
// time; 0 waits for ever. GRUB has switched the firmware's watchdog off. Nothing that a
// key does leads to a disk: sleep heeds none, and no menu is shown.
func StopConfig(server string, after time.Duration) string {
	var b strings.Builder
	b.WriteString("# No boot is ordered.\n")
	for _, line := range stopText(server, after) {
		b.WriteString("echo " + single(line) + "\n")
	}
	if after > 0 {
		fmt.Fprintf(&b, "sleep %d\nhalt\n", seconds(after))
	}
	fmt.Fprintf(&b, "while true; do\n  sleep %d\ndone\n", stopNap)
	return b.String()
}

// stopScript is the same for iPXE, which is in the ROM of some interfaces. Where it has
// no poweroff, it waits.
func stopScript(server string, after time.Duration) string {
	var b strings.Builder
	b.WriteString("#!ipxe\n")
	for _, line := range stopText(server, after) {
		b.WriteString("echo " + line + "\n")
	}
	if after > 0 {
		fmt.Fprintf(&b, "sleep %d ||\npoweroff ||\n", seconds(after))
	}
	fmt.Fprintf(&b, ":wait\nsleep %d ||\ngoto wait\n", stopNap)
	return b.String()
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
