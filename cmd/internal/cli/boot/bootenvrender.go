package boot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol/api"
)

func bootEnvRenderCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var env string
	cmd := &cobra.Command{
		Use: "render SERVER [PATH]", Short: "Show what a server would be served of its boot environment", Args: cobra.RangeArgs(1, 2),
		Long: "Show what a server would be served of its boot environment, or of another one: the files that\n" +
			"are rendered, and how each kind of machine boots. With a path, the content of that file.\n" +
			"The hub renders for a sample attempt: addresses and token are none that a server gets, and\n" +
			"values of Secrets are masked. With -o wide, where the value of each param is from.",
		Example: "  rackctl bootenv render n1 -o wide\n  rackctl bootenv render n1 machines/UUID/seed\n  rackctl bootenv render n1 --bootenv memtest",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			path := ""
			if len(args) > 1 {
				path = args[1]
			}
			out, err := c.Environments.Render(cmd.Context(), args[0], env, path)
			if err != nil {
				return err
			}
			if !pr.Tabular() {
				v := printer.View{Single: true, Items: []printer.Item{{Value: out, Name: "bootenv/" + out.BootEnv}}}
				return pr.Show(v)
			}
			if path != "" && len(out.Files) == 1 {
				return showFile(pr, out.Files[0])
			}
			return showEnv(pr, out)
		},
	}
	cmd.Flags().StringVar(&env, "bootenv", "", "this environment in place of the server's own")
	return cmd
}

func showFile(pr *printer.Printer, f api.EnvRenderFile) error {
	if f.Link != "" {
		pr.Progress("%s is a link to %s", f.Path, f.Link)
	}
	if pr.Form == printer.FormWide {
		pr.Progress("params: %s", printer.Dash(paramSources(f.Params)))
	}
	_, err := fmt.Fprint(pr.Out, terminal.Text(f.Content))
	return err
}

func showEnv(pr *printer.Printer, out api.EnvRender) error {
	var text strings.Builder
	fmt.Fprintf(&text, "BootEnv:   %s\nOS:        %s\nFiles of:  %s\n", out.BootEnv, printer.Dash(out.OS), printer.Dash(strings.TrimSpace(string(out.Source)+" "+out.From)))
	for _, b := range out.Boots {
		fmt.Fprintf(&text, "\n%s:\n", b.Kind)
		if b.Refused != "" {
			fmt.Fprintf(&text, "  cannot boot: %s\n", printer.Dash(b.Refused))
			continue
		}
		for _, line := range []struct{ name, value string }{
			{"loader", b.Loader}, {"uki", b.UKI}, {"kernel", b.Kernel}, {"initrds", strings.Join(b.Initrds, " ")}, {"arguments", b.CommandLine},
		} {
			if line.value != "" {
				fmt.Fprintf(&text, "  %-10s %s\n", line.name, printer.Dash(line.value))
			}
		}
	}
	text.WriteString("\n")
	if _, err := fmt.Fprint(pr.Out, text.String()); err != nil {
		return err
	}
	v := printer.View{Columns: printer.Columns("PATH TEMPLATE SIZE", "PARAMS")}
	for _, f := range out.Files {
		from, size := f.Template, strconv.Itoa(f.Size)
		if f.Link != "" {
			from, size = "link to "+f.Link, ""
		}
		v.Items = append(v.Items, printer.Item{Value: f, Name: f.Path, Cells: []string{f.Path, from, size, paramSources(f.Params)}})
	}
	return pr.Table(v)
}

// paramSources is where values are from: domain=profile global, password=server (secret).
func paramSources(all []api.EnvRenderParam) string {
	var out []string
	for _, p := range all {
		s := p.Param + "=" + p.Source
		if p.Secret {
			s += " (secret)"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
