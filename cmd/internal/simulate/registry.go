package simulate

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"rackboot/integration/sim"
)

// registry serves images from memory until stopped.
func registry(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "registry ADDRESS", Short: "Serve an image registry, which forgets all when it ends", Args: cobra.ExactArgs(1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := sim.StartRegistry(args[0])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "registry at %s\n", r.Addr); err != nil {
			return err
		}
		<-c.Context().Done()
		return r.Close()
	}
	return c
}

// simulatedSystem is as much as a small system has, so that a boot has something to load.
const simulatedSystem = 4 << 20

// uki writes what simulated machines boot; they run no code of it.
func uki() *cobra.Command {
	c := &cobra.Command{Use: "uki FILE", Short: "Write a unified kernel image that simulated machines boot", Args: cobra.ExactArgs(1)}
	c.RunE = func(_ *cobra.Command, args []string) error {
		return os.WriteFile(args[0], sim.UKI(bytes.Repeat([]byte("a system "), simulatedSystem/9)), 0o644)
	}
	return c
}
