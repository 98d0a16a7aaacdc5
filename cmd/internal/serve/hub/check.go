package hub

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
	"rackboot/protocol"
)

// checkCmd reads everything in the hub's folder.
func checkCmd(config *string, stdout io.Writer) *cobra.Command {
	var o daemon.CheckOptions
	var output string
	cmd := &cobra.Command{
		Use: "check", Short: "Read everything in the hub's folder, while the hub is stopped, and say what is wrong", Args: cobra.NoArgs,
		Long: "Reads the store, whether each of its entries can be read and fits the others, and what it had; keys and\n" +
			"certificates; whether the key of secrets opens them; and the audit log. Nothing in the folder is changed: the\n" +
			"store is opened as a copy, which needs as much room in --work. One line for each finding: its code, where,\n" +
			"what, and what to do. The exit code is 1 if there are any.",
		RunE: func(c *cobra.Command, _ []string) error {
			asJSON, err := isJSON(output)
			if err != nil {
				return err
			}
			cfg, err := loadAsOwner("check", *config)
			if err != nil {
				return err
			}
			found, err := daemon.Check(c.Context(), cfg, o)
			if err != nil {
				return err
			}
			return findings(stdout, found, asJSON)
		},
	}
	cmd.Flags().StringVar(&o.Work, "work", "", "a folder with room for a copy of the store (default that of the system for temporary files)")
	cmd.Flags().BoolVar(&o.Deep, "deep", false, "read the contents of uploaded files and of the registry too")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// repairCmd does what is safe.
func repairCmd(config *string, stdout io.Writer) *cobra.Command {
	var o daemon.CheckOptions
	var yes, dry bool
	cmd := &cobra.Command{
		Use: "repair", Short: "Do what is safe about what check finds, while the hub is stopped", Args: cobra.NoArgs,
		Long: "Makes anew what follows from what is there: the store's index from its blocks, the keys of rules from the\n" +
			"resources, files that are written from others; removes what crashes left half written, and puts half a line\n" +
			"of the audit log into a file of its own. It says each step before it does it, and does none without --yes.\n" +
			"What is lost it does not make up: for that it names the way.",
		RunE: func(c *cobra.Command, _ []string) error {
			if yes && dry {
				return protocol.Errorf(protocol.CodeInvalid, "", "--yes and --dry-run do not go together")
			}
			cfg, err := loadAsOwner("repair", *config)
			if err != nil {
				return err
			}
			steps := 0
			left, err := daemon.Repair(c.Context(), cfg, o, !yes, func(step string) {
				steps++
				_, _ = fmt.Fprintln(stdout, step) // nowhere else to say it
			})
			if err != nil {
				return err
			}
			if !yes && steps > 0 {
				if _, err := fmt.Fprintln(stdout, "nothing was done; rackboot-hub repair --yes does it"); err != nil {
					return err
				}
			}
			return findings(stdout, left, false)
		},
	}
	cmd.Flags().StringVar(&o.Work, "work", "", "a folder with room for a copy of the store (default that of the system for temporary files)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, which is what happens without --yes too")
	return cmd
}

func isJSON(output string) (bool, error) {
	if output != "text" && output != "json" {
		return false, protocol.Errorf(protocol.CodeInvalid, "", "--output %q is not text or json", output)
	}
	return output == "json", nil
}

// findings prints what was found; its code is 1 if that is anything.
func findings(w io.Writer, found []daemon.Finding, asJSON bool) error {
	if err := daemon.PrintFindings(w, found, asJSON); err != nil || len(found) == 0 {
		return err
	}
	return protocol.Errorf(protocol.CodeInternal, "", "%d findings", len(found))
}
