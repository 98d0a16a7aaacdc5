package simulate

import (
	"fmt"
	"io"

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
