package agent

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rackboot/agent/daemon"
	"rackboot/cmd/internal/serve"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
)

// check reads what is on disk of an agent that does not run.
func check(config *string, stdout io.Writer) *cobra.Command {
	d := &desk{config: config, out: stdout}
	c := &cobra.Command{
		Use: "check", Short: "Read all that a stopped agent has on disk, and say what is damaged", Args: cobra.NoArgs,
		Long: "Read all that a stopped agent has on disk, and say what is damaged. Nothing is changed: its store is\n" +
			"read in a copy, for which TMPDIR needs room. Exit code 0: everything is as it was written; 4: something\n" +
			"is not; 6: it cannot be read now.",
	}
	c.Flags().StringVarP(&d.form, "output", "o", "table", "table or json")
	c.RunE = func(*cobra.Command, []string) error {
		if d.form != "table" && d.form != "json" {
			return protocol.Errorf(protocol.CodeInvalid, "", "output %q is not one of table, json", d.form)
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		if err := serve.CheckOwner("rackboot-agent", cfg.DataDir); err != nil {
			return err
		}
		found, err := daemon.Check(cfg)
		if err != nil {
			return err
		}
		if found == nil {
			found = []daemon.Finding{} // JSON of none is a list
		}
		table := func(w io.Writer) {
			findings(w, found)
			upgrades(w, cfg)
		}
		if err := d.show(found, table); err != nil || len(found) == 0 {
			return err
		}
		return protocol.Errorf(protocol.CodeConflict, "check "+cfg.DataDir, "%d findings", len(found)).
			WithHint("each says what to do; rackboot-agent run guards what is held meanwhile")
	}
	return c
}

// upgrades says whether the hub can upgrade the agent.
func upgrades(w io.Writer, cfg daemon.Config) {
	can, says := cfg.Upgrade.Standing(cfg.DataDir)
	word := "cannot be ordered"
	if can {
		word = "can be ordered"
	}
	_, _ = fmt.Fprintf(w, "Upgrades %s by the hub: %s\n", word, terminal.Cell(says))
}

func findings(w io.Writer, found []daemon.Finding) {
	if len(found) == 0 {
		_, _ = fmt.Fprintln(w, "Everything is as it was written.")
		return
	}
	row(w, "FOUND", "WHERE", "WHAT", "WHAT TO DO")
	for _, f := range found {
		row(w, string(f.Code), f.Where, f.Text, f.Do)
	}
}
