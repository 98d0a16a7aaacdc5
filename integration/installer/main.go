// Command installer is the only program of the initramfs that the firmware tests
// boot. As init of a kernel that firmware loaded from the network it writes the
// disk image that came with it, reports to the URL that DHCP gave it, and switches
// the machine off. With the kernel argument rackboot.role=os it is the installed
// system: it says so on the console and waits for the power button.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if err := begin(); err != nil {
		stop(err)
	}
	role := install
	switch argument("rackboot.role") {
	case "os":
		role = system
	case "report":
		role = reportOnly
	}
	if err := role(); err != nil {
		stop(err)
	}
	stop(powerOff())
}

// say prints on the console.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stdout, "rackboot-test: "+format+"\n", args...)
}

// stop says what is wrong and waits for whoever switches the machine off: to go
// off would look like an end of the installation.
func stop(err error) {
	for {
		say("FAILED: %v", err)
		time.Sleep(time.Minute)
	}
}
