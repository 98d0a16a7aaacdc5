package agent

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (d *desk) holdsCmd() *cobra.Command {
	return &cobra.Command{
		Use: "holds", Short: "List the holds at the running agent", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			all, err := client.Holds(c.Context())
			if err != nil {
				return err
			}
			return d.show(local.List[local.Hold]{Items: all}, func(w io.Writer) { holdTable(w, all) })
		},
	}
}

// holdTable shows holds, one in a line.
func holdTable(w io.Writer, all []local.Hold) {
	row(w, "ID", "WORD", "STATE", "SERVER", "KEY", "OWNER", "MODE", "HUB", "READ", "STOPPED-SINCE", "REASON")
	for _, h := range all {
		since, reason := "", h.Reason
		if h.Receipt != nil && !h.Receipt.StoppedSince.IsZero() {
			since = h.Receipt.StoppedSince.UTC().Format(time.RFC3339)
		}
		if h.Released != nil {
			reason = "released by " + h.Released.By
			if h.Released.Reason != "" {
				reason += ": " + h.Released.Reason
			}
		}
		row(w, h.ID, string(h.Word), stateOf(h), h.Server, h.Key, h.Owner, string(h.Mode), atHub(h), readCell(h.ReadAt, h.Stale), since, reason)
	}
}

// readCell is the age of the last recorded read.
func readCell(at *time.Time, stale bool) string {
	text := ""
	if at != nil {
		text = age(*at, time.Now())
	}
	if stale {
		text = strings.TrimSpace(text + " stale")
	}
	return text
}

// atHub is what the hub knows of a hold, as far as its documents tell.
func atHub(h local.Hold) string {
	switch {
	case h.Released != nil, h.Local:
		return "not yet"
	case h.Missing:
		return "missing"
	default:
		return "yes"
	}
}

func stateOf(h local.Hold) string {
	if h.State != "" {
		return string(h.State)
	}
	return string(h.Word)
}

func (d *desk) holdCmd() *cobra.Command {
	var req api.HoldRequest
	var mode, expiry string
	var soft, ttl time.Duration
	c := &cobra.Command{
		Use: "hold SERVER --key KEY", Short: "Stop a server and keep it off until the hold is released", Args: cobra.ExactArgs(1),
		Long: "Stop a server and keep it off until the hold is released, also with the hub away.\n\n" +
			"The same hold again, by the same user with the same key, is the same hold. It is on disk when the\n" +
			"command ends; the hub takes it over under the same id when it is back.",
		Example: "  rackboot-agent hold n1 --key smoke --mode hard --reason 'smoke in row 7'",
	}
	c.Flags().StringVar(&req.Key, "key", "", "your name for this hold; one hold per user, key and server")
	c.Flags().StringVar(&mode, "mode", "soft", "soft: ask the system to stop first; hard: power off at once")
	c.Flags().StringVar(&req.Reason, "reason", "", "why, for people")
	c.Flags().StringVar(&req.Ref, "ref", "", "what it belongs to, kept as it is")
	c.Flags().DurationVar(&soft, "soft-timeout", 0, "how long a soft stop may take (default: the rack's)")
	c.Flags().DurationVar(&ttl, "ttl", 0, "how long the hold lies (default: until it is released)")
	c.Flags().StringVar(&expiry, "on-expiry", "", "what happens then: keep (default), or release")
	c.Flags().BoolVar(&req.ForceDuringFirmware, "force-during-firmware", false, "stop the server during firmware work too, which can break the board")
	c.RunE = func(c *cobra.Command, args []string) error {
		req.Mode, req.OnExpiry = resource.StopMode(mode), resource.OnExpiry(expiry)
		req.SoftTimeout, req.TTL = protocol.Duration(soft), protocol.Duration(ttl)
		client, err := d.client()
		if err != nil {
			return err
		}
		h, err := client.Place(c.Context(), args[0], req)
		return d.one(h, err)
	}
	return c
}

// one shows one hold.
func (d *desk) one(h local.Hold, err error) error {
	if err != nil {
		return err
	}
	return d.show(h, func(w io.Writer) { holdTable(w, []local.Hold{h}) })
}

func (d *desk) releaseCmd() *cobra.Command {
	var req api.ReleaseRequest
	c := &cobra.Command{
		Use: "release HOLD-ID", Short: "Release a hold", Args: cobra.ExactArgs(1),
		Long: "Release a hold: your own, or with --break-glass and a reason anybody's, the hub's included.\n\n" +
			"The release is on disk when the command ends, and counts even if the hub still names the hold;\n" +
			"it is told who released it and why.",
		Example: "  rackboot-agent release 01k9… --break-glass 'hub is lost, service must come back'",
	}
	c.Flags().StringVar(&req.BreakGlass, "break-glass", "", "why you release a hold that is not yours")
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := d.client()
		if err != nil {
			return err
		}
		h, err := client.Release(c.Context(), args[0], req)
		return d.one(h, err)
	}
	return c
}

func (d *desk) confirmCmd() *cobra.Command {
	var req api.ConfirmRequest
	c := &cobra.Command{
		Use: "confirm-down HOLD-ID --reason REASON", Short: "Say that a held server is down whose BMC does not answer", Args: cobra.ExactArgs(1),
		Long: "Say that a held server is down whose BMC does not answer. It is your word, not a proof: receipts\n" +
			"say so. While the BMC answers it has no effect.",
		Example: "  rackboot-agent confirm-down 01k9… --reason 'both power cables are out'",
	}
	c.Flags().StringVar(&req.Reason, "reason", "", "how you know")
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := d.client()
		if err != nil {
			return err
		}
		h, err := client.ConfirmDown(c.Context(), args[0], req)
		return d.one(h, err)
	}
	return c
}
