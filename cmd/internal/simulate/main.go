package simulate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/serve"
	demofiles "rackboot/configs/demo"
	"rackboot/integration/sim"
)

// Main is rackboot-sim; it returns the exit code.
func Main(args []string, version string, stdout, stderr io.Writer) int {
	return serve.Execute(Command(version, stdout, stderr), args, stderr)
}

// Command is rackboot-sim with its commands.
func Command(version string, stdout, stderr io.Writer) *cobra.Command {
	c := serve.Root("rackboot-sim", "Simulated racks for trying Rackboot", version)
	c.AddCommand(demo(stdout), rack(stdout, stderr), fleetCmd(stdout), uki())
	return c
}

func demo(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "demo", Short: "Show the main job, or a scenario, with simulated servers", Args: cobra.NoArgs}
	names, about := sim.Scenarios()
	long := []string{"Start a hub, an agent and simulated servers on loopback, and show with real packets, without --scenario,", "the main job; with it one of:", ""}
	for _, n := range names {
		long = append(long, fmt.Sprintf("  %-14s %s", n, about[n]))
	}
	c.Long = strings.Join(append(long, "", "It ends by itself, and fails where a step does not come."), "\n")
	scenario := c.Flags().String("scenario", "", strings.Join(names, ", ")+" (default: the main job)")
	servers := c.Flags().Int("servers", 0, fmt.Sprintf("how many servers, 1 to %d (default: what the scenario needs)", sim.MaxDemoServers))
	keep := c.Flags().Bool("keep", false, "stay up at the end")
	manifests := c.Flags().String("manifests", "", "folder with manifests to show in place of the demo's own")
	c.RunE = func(c *cobra.Command, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		files := demofiles.Manifests()
		if *manifests != "" {
			files = os.DirFS(*manifests)
		}
		return sim.RunDemo(c.Context(), sim.DemoConfig{Bin: filepath.Dir(self), Manifests: files, Scenario: *scenario, Servers: *servers, Keep: *keep, Out: stdout})
	}
	return c
}
