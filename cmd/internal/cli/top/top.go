package top

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
)

// options are the flags of top.
type options struct {
	choice.Choice
	rack string
	once bool
}

// Command is rackctl top.
func Command(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "top", Short: "Show racks and servers on a terminal while they change", Args: cobra.NoArgs,
		Long: "Show racks and servers on a terminal while they change, those that matter most first: what has failed,\n" +
			"what may not be as it is shown, what is on its way.\n\n" +
			"Keys: j, k and arrows move, enter looks at one server or at the servers of a rack, / filters, esc shows\n" +
			"all, tab changes between servers and racks, s the order, p stops what is shown, q ends.\n\n" +
			"The hub tells what changes within some seconds; a screen is drawn of it once a second. READ says fresh of a server\n" +
			"whose last read is not too old. A hub that does not answer is said, with since when, and asked again. Labels of a\n" +
			"rack count as those of what is in it.",
		Example: "  rackctl top\n  rackctl top --rack rack-17\n  rackctl top -l row=7\n  rackctl top --once | head",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, hubs, src, pr)
		},
	}
	o.Flags(cmd)
	cmd.Flags().StringVar(&o.rack, "rack", "", "only this rack and its servers")
	cmd.Flags().BoolVar(&o.once, "once", false, "print one screen, of 80 columns and 24 lines where there is no terminal, and end")
	return cmd
}

func (o *options) run(cmd *cobra.Command, hubs *client.Hubs, src *files.Input, pr *printer.Printer) error {
	if !pr.Tabular() {
		return protocol.Errorf(protocol.CodeInvalid, "", "top draws a screen, and has no output %s", pr.Form).WithHint("rackctl get servers -o %s", pr.Form)
	}
	if err := o.Read([]string{"servers"}); err != nil {
		return err
	}
	if !o.once {
		if err := interactive(src, pr); err != nil {
			return err
		}
	}
	link, err := hubs.Link()
	if err != nil {
		return err
	}
	defer link.Close()
	f := &feed{link: link, chosen: &o.Choice, rack: o.rack, clock: time.Now}
	defer f.close()
	first, err := f.first(cmd.Context())
	if err != nil {
		return err
	}
	columns, lines := terminal.Size(pr.Out)
	first.live = !o.once
	m, paint := newModel(first, columns, lines), painter{colours: pr.Colours()}
	if o.once {
		return write(pr.Out, m.frame(f.clock(), paint))
	}
	return run(cmd.Context(), f, m, paint, terminalOf{in: src.Stdin, out: pr.Out, env: environment(src.Getenv)})
}

// interactive is nil where somebody sits at a terminal that can be drawn on.
func interactive(src *files.Input, pr *printer.Printer) error {
	out, isFile := pr.Out.(*os.File)
	switch term := src.Getenv("TERM"); {
	case !isFile || terminal.Person(out) == nil || terminal.Person(src.Stdin) == nil:
		return protocol.Errorf(protocol.CodeInvalid, "", "top needs a terminal for keys and for what it draws").WithHint("rackctl top --once prints one screen; rackctl get servers -w lists what changes")
	case term == "" || term == "dumb":
		return protocol.Errorf(protocol.CodeInvalid, "", "this terminal cannot be drawn on: TERM is %q", term).WithHint("set TERM to what the terminal is, such as xterm-256color; rackctl top --once prints one screen")
	}
	return nil
}

// environment is what says what a terminal can do.
func environment(getenv func(string) string) (out []string) {
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "TERM_PROGRAM", "TMUX", "STY", "SSH_TTY", "WT_SESSION"} {
		if value := getenv(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// write prints a frame without the blanks at the ends of its lines.
func write(w io.Writer, frame []string) error {
	for i, line := range frame {
		frame[i] = strings.TrimRight(line, " ")
	}
	_, err := fmt.Fprintln(w, strings.Join(frame, "\n"))
	return err
}
