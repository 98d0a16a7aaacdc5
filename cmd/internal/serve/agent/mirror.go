package agent

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rackboot/protocol/api"
)

func (d *desk) mirrorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "mirror", Short: "Show what there is of package repositories, and whether they answer", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			s, err := client.Mirror(c.Context())
			if err != nil {
				return err
			}
			return d.show(s, func(w io.Writer) {
				row(w, "REPOSITORY", "OBJECTS", "BYTES", "FRESH", "VALIDATED", "ANSWERS", "LAST-ERROR", "SERVED", "MISSED")
				for _, r := range s.Repositories {
					validated := ""
					if r.Validated != nil {
						validated = age(*r.Validated, s.At)
					}
					row(w, r.URL, fmt.Sprint(r.Objects), fmt.Sprint(r.Bytes), fmt.Sprint(r.Fresh), validated, string(r.Answers), string(r.Code), fmt.Sprint(r.Served), fmt.Sprint(r.Missed))
				}
			})
		},
	}
}

func (d *desk) mirrorFlushCmd() *cobra.Command {
	var req api.FlushRequest
	c := &cobra.Command{
		Use: "mirror-flush [REPOSITORY|PATH]", Short: "Drop what is cached of package repositories", Args: cobra.MaximumNArgs(1),
		Long: "Drop what is cached of package repositories: all, or what is at a URL, or at a path of any\n" +
			"repository's host, and below it. Boots under way go on. While a repository does not answer, nothing of\n" +
			"it is dropped without --force. The agent's log says who did it.",
		Example: "  rackboot-agent mirror-flush /debian/dists/bookworm",
	}
	c.Flags().BoolVar(&req.Force, "force", false, "drop it also while a repository does not answer")
	c.Flags().StringVar(&req.Reason, "reason", "", "why, for the agent's log")
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := d.client()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			req.What = args[0]
		}
		f, err := client.Flush(c.Context(), req)
		if err != nil {
			return err
		}
		return d.show(f, func(w io.Writer) {
			row(w, "OBJECTS", "BYTES", "KEPT", "KEPT-BYTES")
			row(w, fmt.Sprint(f.Objects), fmt.Sprint(f.Bytes), fmt.Sprint(f.Kept), fmt.Sprint(f.KeptBytes))
		})
	}
	return c
}
