package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rackboot/agent/daemon"
	"rackboot/agent/local"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// desk is what the commands share that ask a running agent.
type desk struct {
	config *string
	socket string
	form   string
	out    io.Writer
}

// localCommands are the commands that ask the running agent over its socket.
func localCommands(config *string, stdout io.Writer) []*cobra.Command {
	d := &desk{config: config, out: stdout}
	all := []*cobra.Command{d.statusCmd(), d.serversCmd(), d.explainCmd(), d.traceCmd(), d.mirrorCmd(), d.mirrorFlushCmd(), d.holdsCmd(), d.holdCmd(), d.releaseCmd(), d.resumeCmd(), d.confirmCmd()}
	for _, c := range all {
		c.Flags().StringVar(&d.socket, "socket", "", "the agent's socket (default: as the agent's file says)")
		c.Flags().StringVarP(&d.form, "output", "o", "table", "table or json")
		c.PreRunE = func(*cobra.Command, []string) error {
			if d.form != "table" && d.form != "json" {
				return protocol.Errorf(protocol.CodeInvalid, "", "output %q is not one of table, json", d.form)
			}
			return nil
		}
	}
	return all
}

// client calls the agent whose socket is given, or is in its file.
func (d *desk) client() (*local.Client, error) {
	if d.socket != "" {
		return local.NewClient(d.socket), nil
	}
	c, err := daemon.LoadConfig(*d.config)
	if err != nil {
		return nil, err
	}
	return local.NewClient(c.LocalSocket().Path), nil
}

// show prints a value as JSON, or as what table writes, by columns.
func (d *desk) show(value any, table func(w io.Writer)) error {
	if d.form == "json" {
		raw, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
		}
		_, err = fmt.Fprintf(d.out, "%s\n", terminal.JSON(raw))
		return err
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 3, ' ', 0)
	table(w)
	return w.Flush()
}

// row writes one line of a table.
func row(w io.Writer, cells ...string) {
	for i, c := range cells {
		cells[i] = terminal.Cell(c)
	}
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // the tab writer keeps the error for Flush
}

// age is how long ago something was.
func age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return max(0, now.Sub(t)).Round(time.Second).String()
}

// codes are those of conditions.
func codes(all []resource.ConditionState) string {
	var out []string
	for _, c := range all {
		out = append(out, string(c.Code))
	}
	return strings.Join(out, ",")
}

// yes says whether something is so.
func yes(so bool) string {
	if so {
		return "yes"
	}
	return "no"
}
