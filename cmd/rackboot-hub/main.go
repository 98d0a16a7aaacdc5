// Command rackboot-hub holds what people want of their racks and sends it to the
// agents.
package main

import (
	"os"

	"rackboot/cmd/internal/serve"
)

// version is set at build time.
var version = "dev"

func main() { os.Exit(serve.Hub(os.Args[1:], version, os.Stdout, os.Stderr)) }
