package site

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func firmwareStatusCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "status [SERVER]", Short: "Show what was last written of servers' firmware settings", Args: cobra.MaximumNArgs(1),
		Long: "Show what was last written of servers' firmware settings, and how far that is. Of one server each setting is shown:\n" +
			"BEFORE is what was read before anything was written, and what revert puts back; NOW is what was read last.\n" +
			"-o wide shows what the BMC said.",
		Example: "  rackctl firmware status\n  rackctl firmware status n1 -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return firmwareRuns(cmd.Context(), pr, c)
			}
			run, err := c.Servers.FirmwareStatus(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return showFirmwareRun(pr, args[0], run)
		},
	}
}

// firmwareRuns shows the last run of each server that had one.
func firmwareRuns(ctx context.Context, pr *printer.Printer, c *api.Client) error {
	servers, err := c.Objects.List(ctx, resource.KindServer)
	if err != nil {
		return err
	}
	v := printer.View{Columns: printer.Columns("SERVER STAGE CODE SETTINGS PASSES BEGUN SINCE")}
	for _, o := range servers {
		s, is := o.(*resource.Server)
		if !is || s.Status.Settings == nil {
			continue
		}
		r := s.Status.Settings
		v.Items = append(v.Items, printer.Item{Value: r, Name: "server/" + s.Metadata.Name, Cells: []string{
			s.Metadata.Name, string(r.Stage), string(r.Code), strconv.Itoa(len(r.Settings)), strconv.Itoa(r.Passes), printer.Stamp(&r.Begun), printer.Stamp(&r.Since),
		}})
	}
	return pr.Show(v)
}

func showFirmwareRun(pr *printer.Printer, server string, r resource.FirmwareRun) error {
	if !pr.Tabular() {
		return pr.Show(printer.View{Single: true, Items: []printer.Item{{Value: r, Name: "server/" + server}}})
	}
	pr.Progress("server %s: %s %s since %s, begun %s, passes: %d", server, r.Stage, r.Code, printer.Stamp(&r.Since), printer.Stamp(&r.Begun), r.Passes)
	if r.Text != "" {
		pr.Progress("%q", r.Text)
	}
	v := printer.View{Columns: printer.Columns("SERVER SETTING WHERE BEFORE WANTED NOW STANDING", "HINDRANCE", "TEXT")}
	for _, s := range r.Settings {
		v.Items = append(v.Items, printer.Item{Cells: []string{server, s.Setting, s.Where, s.Before, s.Value, s.Now, string(s.Standing), string(s.Hindrance), s.Text}})
	}
	return pr.Table(v)
}

func firmwareWantedCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "wanted MAINTENANCE", Short: "Show the values that a maintenance writes", Args: cobra.ExactArgs(1),
		Long: "Show the firmware settings that a maintenance writes, with their values, and the digest by which an approval\n" +
			"names them: rackctl approve show has the same one.",
		Example: "  rackctl firmware wanted firmware-n1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			w, err := c.Servers.FirmwareWanted(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if !pr.Tabular() {
				return pr.Show(printer.View{Single: true, Items: []printer.Item{{Value: w, Name: "maintenance/" + args[0]}}})
			}
			pr.Progress("settings %s", w.Digest)
			v := printer.View{Columns: printer.Columns("SERVER SETTING WHERE WANTED")}
			for _, s := range w.Settings {
				v.Items = append(v.Items, printer.Item{Cells: []string{w.Server, s.Setting, s.Where, s.Value}})
			}
			return pr.Table(v)
		},
	}
}
