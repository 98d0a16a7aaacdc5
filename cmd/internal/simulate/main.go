package simulate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	demofiles "rackboot/configs/demo"
	"rackboot/integration/sim"
	"rackboot/protocol"
)

// Main runs rackboot-sim and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := &cobra.Command{Use: "rackboot-sim", Short: "Simulated racks for trying Rackboot", SilenceErrors: true, SilenceUsage: true}
	c.CompletionOptions.DisableDefaultCmd = true
	c.AddCommand(demo(stdout), rack(stdout, stderr), uki())
	c.SetArgs(args)
	if err := c.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "rackboot-sim: %v\n", err) // nowhere else to say it
		if hint := protocol.HintOf(err); hint != "" {
			_, _ = fmt.Fprintf(stderr, "hint: %s\n", hint)
		}
		return 1
	}
	return 0
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
