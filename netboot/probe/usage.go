package probe

import (
	"flag"
	"strings"
)

// What the command's help and its manual page say.
const (
	Short = "Report to the agent of the rack what became of a boot"
	Long  = `The mode says what is reported:

  discover   the inventory of this server
  installed  the disk is complete: boot from it from now on
  booted     the system runs that was booted from the network
  failed     it cannot go on; --message says why

As init of an initramfs (process 1) it takes mode and URL from the kernel's command line, with discover
for a mode that is not there. At the end it switches the server off, but for one whose disks it discarded.`
)

// Modes are what the command takes as its first argument.
func Modes() []string { return []string{"discover", "installed", "booted", "failed"} }

// Synopsis is the command with its modes.
func Synopsis() string { return "rackboot-probe " + strings.Join(Modes(), "|") }

// Flags are the command's, as before it has read any.
func Flags() *flag.FlagSet { return new(Config).flags() }
