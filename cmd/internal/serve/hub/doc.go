// Package hub is the command line of rackboot-hub.
package hub
