// Command rackboot-sim runs simulated racks: the demonstration, or servers with
// BMCs for trying Rackboot without hardware.
package main

import (
	"os"

	"rackboot/cmd/internal/simulate"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() { os.Exit(simulate.Main(os.Args[1:], version, os.Stdout, os.Stderr)) }
