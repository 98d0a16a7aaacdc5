package main

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/launch"
)

// launcherCommand is rackboot-launcher as if it were of cobra, for its page.
func launcherCommand(version string) *cobra.Command {
	return &cobra.Command{Use: launch.Name + " [ARGUMENTS OF rackboot-agent]", Short: launch.Short, Long: launch.Short + ".\n\n" + launch.Long, Version: version}
}
