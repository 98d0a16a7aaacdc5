// Command rackboot-sim runs simulated racks: the demonstration, or servers with
// BMCs for trying Rackboot without hardware.
package main

import (
	"os"

	"rackboot/cmd/internal/simulate"
)

func main() { os.Exit(simulate.Main(os.Args[1:], os.Stdout, os.Stderr)) }
