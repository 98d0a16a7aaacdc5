package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// Command is rackctl webhook.
func Command(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhook", Short: "Show where the hub sends events, and send again what it gave up", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listCmd(hubs, pr), deadCmd(hubs, pr), retryCmd(hubs, pr), testCmd(hubs, pr))
	return cmd
}

func listCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the webhooks of the hub's file, and how far each is", Args: cobra.NoArgs,
		Long: "List the webhooks of the hub's file. WAITING is how long the event waits that is tried now, FAILED the last\n" +
			"attempt that failed. Counts of DELIVERED are since the hub's start. -o wide has more.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			list, err := c.Webhooks.List(cmd.Context())
			if err != nil {
				return err
			}
			if len(list.Items) == 0 {
				pr.Progress("the hub's file has no webhooks")
			}
			v := printer.View{Columns: printer.Columns("NAME HOST DELIVERED WAITING DEAD FAILED", "BEHIND", "NEXT", "CODES", "RACKS", "DROPPED")}
			for _, h := range list.Items {
				v.Items = append(v.Items, printer.Item{Value: h, Name: "webhook/" + h.Name, Cells: cells(h, time.Now())})
			}
			return pr.Show(v)
		},
	}
}

func cells(h api.Webhook, now time.Time) []string {
	waiting, next, failed := "", "", ""
	if w := h.Waiting; w != nil {
		waiting, next = printer.Age(&w.Filed, now), printer.Stamp(&w.Next)
	}
	if f := h.Failure; f != nil {
		failed = because(*f) + " " + printer.Age(&f.At, now) + " ago"
	}
	return []string{
		h.Name, h.Host, strconv.FormatUint(h.Delivered, 10), waiting, strconv.Itoa(h.Dead), failed,
		strconv.FormatUint(h.Newest-min(h.Position, h.Newest), 10), next, printer.Join(h.Codes), strings.Join(h.Racks, ","), strconv.FormatUint(h.Dropped, 10),
	}
}

// because is why an attempt failed.
func because(f api.WebhookFailure) string {
	if f.Status == 0 {
		return string(f.Code)
	}
	return fmt.Sprintf("%s (%d)", f.Code, f.Status)
}

func deadCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "dead NAME", Short: "List the events that a webhook gave up", Args: cobra.ExactArgs(1),
		Long: "List the events that a webhook gave up, the oldest first: those that its receiver refused for good, and\n" +
			"those that it did not take in time. -o yaml has them whole.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			list, err := c.Webhooks.Dead(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			now := time.Now()
			v := printer.View{Columns: printer.Columns("ID TYPE SUBJECT AGE ATTEMPTS WHY AGAIN")}
			for _, l := range list.Items {
				v.Items = append(v.Items, printer.Item{Value: l, Name: l.ID, Cells: []string{
					l.ID, l.Type, l.Subject, printer.Age(&l.Filed, now), strconv.Itoa(l.Attempts), because(l.Failure), strconv.FormatBool(l.Again),
				}})
			}
			if list.Dropped > 0 {
				pr.Progress("%s more were given up and are kept no longer", printer.Plural(int(min(list.Dropped, 1<<31-1)), "event"))
			}
			return pr.Show(v)
		},
	}
}

func retryCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "retry NAME [ID...]", Short: "Have events that a webhook gave up sent once more", Args: cobra.MinimumNArgs(1),
		Long: "Have events that a webhook gave up sent once more, before what waits. One that is not taken stays among\n" +
			"the dead. Repeating it is safe.",
		Example: "  rackctl webhook retry pager 4711-0011223344556677\n  rackctl webhook retry pager --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 1) {
				return protocol.Errorf(protocol.CodeInvalid, "", "give IDs, or --all").WithHint("rackctl webhook dead %s lists them", args[0])
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Webhooks.Retry(cmd.Context(), args[0], api.WebhookRetry{IDs: args[1:]})
			if err != nil {
				return err
			}
			return pr.Text(out, []string{"webhook/" + args[0]}, fmt.Sprintf("webhook %s sends %s again", args[0], printer.Plural(out.Letters, "event")))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	return cmd
}

func testCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "test NAME", Short: "Send a webhook something that is no event", Args: cobra.ExactArgs(1),
		Long: "Send a webhook something that is no event, of type io.rackboot.webhook.test, once, and wait for the answer.\n" +
			"It waits for nothing that is still to be sent. The exit code is 6 where the receiver did not take it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			out, err := c.Webhooks.Test(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if !out.Taken {
				return protocol.Errorf(protocol.CodeUnavailable, "webhook test", "webhook %s did not take it: %s", args[0], because(api.WebhookFailure{Code: out.Code, Status: out.Status})).
					WithHint("docs/guide/webhooks.md says what each code means")
			}
			return pr.Text(out, []string{"webhook/" + args[0]}, fmt.Sprintf("webhook %s took it in %.0f ms (%d)", args[0], out.Seconds*1000, out.Status))
		},
	}
}
