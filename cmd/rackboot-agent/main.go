// Command rackboot-agent serves one rack: it owns the BMCs of its segment and
// answers the boots of its servers.
package main

import (
	"os"

	"rackboot/cmd/internal/serve"
)

// version is set at build time.
var version = "dev"

func main() { os.Exit(serve.Agent(os.Args[1:], version, os.Stdout, os.Stderr)) }
