// Command rackboot-launcher starts rackboot-agent, and the release before when a new one does not reach the hub.
package main

import (
	"os"

	"rackboot/cmd/internal/launch"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() { os.Exit(launch.Main(os.Args[1:], version, os.Getenv, os.Stdout, os.Stderr)) }
