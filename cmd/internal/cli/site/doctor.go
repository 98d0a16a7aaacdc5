package site

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func doctorCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Show what stands against an upgrade of the hub or of servers", Args: cobra.NoArgs,
		Long: "Show what stands against an upgrade of the hub or of servers: groups that cannot be updated,\n" +
			"images that are older than allowed or cannot be compared, roll-outs that go on, are paused or\n" +
			"failed, entries without a valid stamp, approvals that wait, agents that are silent or lack what\n" +
			"a boot needs.\n\n" +
			"Exit codes:\n" +
			"   0  nothing blocks; what is listed should be known\n" +
			"   4  something blocks\n" +
			"   2 to 8 as with any command: the hub was not asked",
		Example: "  rackctl doctor && systemctl restart rackboot-hub",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			if err := showDoctor(pr, out); err != nil {
				return err
			}
			blocks := 0
			for _, f := range out.Findings {
				if f.Blocks {
					blocks++
				}
			}
			if blocks > 0 {
				return protocol.Errorf(protocol.CodeConflict, "doctor", "%s to be dealt with before an upgrade", printer.Plural(blocks, "finding")).
					WithHint("each code is listed with what to do")
			}
			return nil
		},
	}
}

func showDoctor(pr *printer.Printer, out api.DoctorAnswer) error {
	if pr.Form == printer.FormJSON || pr.Form == printer.FormYAML {
		return pr.Encode(out)
	}
	v, hints := doctorView(out)
	if len(v.Items) == 0 && pr.Form != printer.FormName {
		pr.Progress("hub %s: nothing stands against an upgrade", printer.Dash(out.Version))
		return nil
	}
	if err := pr.Show(v); err != nil || pr.Form == printer.FormName {
		return err
	}
	_, err := fmt.Fprint(pr.Out, hints)
	return err
}

// doctorView is the findings, and what to do for each code once.
func doctorView(out api.DoctorAnswer) (v printer.View, hints string) {
	v.Columns = printer.Columns("BLOCKS SEVERITY SUBJECT CODE WHAT")
	var b strings.Builder
	told := map[resource.ConditionCode]bool{}
	for _, f := range out.Findings {
		known, ok := resource.LookupCondition(f.Code)
		blocks, what := "no", f.Message
		if f.Blocks {
			blocks = "yes"
		}
		if what == "" {
			what = known.Title
		}
		v.Items = append(v.Items, printer.Item{Value: f, Name: f.Target, Cells: []string{blocks, string(known.Severity), f.Target, string(f.Code), what}})
		if ok && !told[f.Code] {
			told[f.Code] = true
			fmt.Fprintf(&b, "  %s: %s\n    %s\n", f.Code, known.Title, known.Hint)
		}
	}
	if b.Len() > 0 {
		hints = "\nWhat to do:\n" + b.String()
	}
	return v, hints
}
