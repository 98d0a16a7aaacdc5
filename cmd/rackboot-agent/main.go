//go:debug x509negativeserial=1

// Command rackboot-agent serves one rack: it owns the BMCs of its segment and
// answers the boots of its servers.
package main

import (
	"os"

	"rackboot/cmd/internal/serve/agent"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() { os.Exit(agent.Main(os.Args[1:], version, os.Stdout, os.Stderr)) }
