package object

import (
	"github.com/spf13/pflag"

	"rackboot/protocol"
)

// dryRun is --dry-run, by itself or as kubectl has it: =server and =client, which both have the hub check
// everything, and =none.
type dryRun bool

// addDryRun adds the flag.
func addDryRun(flags *pflag.FlagSet, to *dryRun, usage string) {
	flags.Var(to, "dry-run", usage)
	flags.Lookup("dry-run").NoOptDefVal = "server"
}

// String implements pflag.Value.
func (d *dryRun) String() string {
	if *d {
		return "server"
	}
	return ""
}

// Set implements pflag.Value.
func (d *dryRun) Set(s string) error {
	switch s {
	case "server", "client", "true":
		*d = true
	case "none", "false":
		*d = false
	default:
		return protocol.Errorf(protocol.CodeInvalid, "", "%q is not one of server, client, none", s)
	}
	return nil
}

// Type implements pflag.Value. It is shown nowhere: the flag needs no value.
func (d *dryRun) Type() string { return "bool" }
