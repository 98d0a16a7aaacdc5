// Command rackboot-hub holds what people want of their racks and sends it to the
// agents.
package main

import (
	"os"

	"rackboot/cmd/internal/serve/hub"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() { os.Exit(hub.Main(os.Args[1:], version, os.Stdout, os.Stderr)) }
