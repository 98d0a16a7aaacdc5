package support

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const op = "support"

// The bounds of a bundle.
const (
	maxEvents = 20_000
	eventPage = 1000
	maxTraces = 20
)

// asked is what somebody wants in a bundle.
type asked struct {
	version string
	since   time.Duration
	servers []string
}

// Command writes a bundle for whoever is to help.
func Command(version string, hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	want := asked{version: version}
	cmd := &cobra.Command{
		Use: "support [FILE]", Short: "Write one file for whoever is to help, without secrets", Args: cobra.MaximumNArgs(1),
		Long: "Write one file for whoever is to help, without secrets: all resources with their conditions, the\n" +
			"events of a day, requests, what doctor finds, who calls, what was seen of the last power-on of servers\n" +
			"that have an error, and of the hub its file, its last log lines and its metrics, which are an admin's\n" +
			"to read. What could not be had is in manifest.json with the reason.\n\n" +
			"Private keys, tokens, passwords, hashes of them, accounts in URLs and private URLs of boots are taken\n" +
			"out. Names, addresses, labels and whatever people wrote elsewhere stay: read it before you send it.",
		Example: "  rackctl support\n  rackctl support case-17.tar.gz --server n1,n2 --since 72h",
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now().UTC()
			if want.since <= 0 {
				return protocol.Errorf(protocol.CodeInvalid, "", "--since %s is in the time to come", want.since)
			}
			if len(want.servers) > maxTraces {
				return protocol.Errorf(protocol.CodeInvalid, "", "--server names %d servers, at most %d", len(want.servers), maxTraces)
			}
			name := "rackboot-support-" + now.Format("20060102T150405Z")
			path := name + ".tar.gz"
			if len(args) > 0 {
				path = args[0]
			}
			hub, err := hubs.Chosen()
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			b := newBundle(name, want.version, hub.URL, now)
			if err := want.collect(cmd.Context(), c, b); err != nil {
				return err
			}
			raw, err := b.close()
			if err != nil {
				return err
			}
			if err := files.WriteNew(path, raw); err != nil {
				return err
			}
			for _, m := range b.manifest.Missing {
				pr.Progress("missing: %s: %s", m.Name, m.Why)
			}
			return pr.Text(b.manifest, []string{path}, path+" has "+printer.Plural(len(b.manifest.Files), "file")+"; read it before you send it")
		},
	}
	cmd.Flags().DurationVar(&want.since, "since", 24*time.Hour, "events of the last so long")
	cmd.Flags().StringSliceVar(&want.servers, "server", nil, "servers whose last power-on is wanted (default: those that have an error, up to 20)")
	return cmd
}

// collect fills a bundle. An error is of a hub that does not answer at all, or of the bundle.
func (w asked) collect(ctx context.Context, c *api.Client, b *bundle) error {
	me, err := c.Whoami(ctx)
	if err != nil {
		return err
	}
	put := func(name string, v any, wrong error) {
		if err == nil {
			err = b.put(name, v, wrong)
		}
	}
	put("version.json", map[string]any{"rackctl": w.version, "hub": me.Hub, "protocol": protocol.Version, "apiVersion": resource.APIVersion, "platform": runtime.GOOS + "/" + runtime.GOARCH}, nil)
	put("whoami.json", me, nil)
	found, wrong := c.Doctor(ctx)
	put("doctor.json", found, wrong)
	backed, wrong := c.Backups.Status(ctx)
	put("backup.json", backed, wrong)
	requests, wrong := c.Requests.List(ctx, "")
	put("requests.json", requests, wrong)
	var servers []*resource.Server
	for _, kind := range resource.Kinds() {
		objs, wrong := c.Objects.List(ctx, kind)
		put("objects/"+kind.Plural()+".json", objs, wrong)
		for _, o := range objs {
			if s, ok := o.(*resource.Server); ok {
				servers = append(servers, s)
			}
		}
	}
	events, wrong := w.events(ctx, c, b)
	put("events.json", events, wrong)
	w.traces(ctx, c, put, servers)
	if err != nil {
		return err
	}
	return hubParts(ctx, c, b)
}

// events are those since a time, the newest of them if there are too many.
func (w asked) events(ctx context.Context, c *api.Client, b *bundle) ([]api.EventRecord, error) {
	out := []api.EventRecord{}
	query := api.EventQuery{Limit: eventPage, Since: b.manifest.MadeAt.Add(-w.since)}
	for {
		page, err := c.EventsOf(ctx, query)
		if err != nil {
			return out, err
		}
		out = append(out, page.Items...)
		if over := len(out) - maxEvents; over > 0 {
			out = out[over:]
		}
		if page.Incomplete != nil {
			b.lacks("events.json", page.Incomplete.Err(op))
		}
		if len(page.Items) == 0 || page.Next <= query.After {
			return out, nil
		}
		query.After = page.Next
	}
}

// traces adds what was seen of power-ons.
func (w asked) traces(ctx context.Context, c *api.Client, put func(string, any, error), servers []*resource.Server) {
	of := w.servers
	if of == nil {
		for _, s := range servers {
			if failing(s) && len(of) < maxTraces {
				of = append(of, s.Metadata.Name)
			}
		}
	}
	for _, server := range of {
		t, err := c.Servers.Trace(ctx, server, 0)
		put("traces/"+strings.ReplaceAll(server, "/", "_")+".json", t, err)
	}
}

// failing reports whether a server has an error.
func failing(s *resource.Server) bool {
	for _, c := range s.Status.Conditions {
		if known, ok := resource.LookupCondition(c.Code); ok && known.Severity == resource.SeverityError {
			return true
		}
	}
	return false
}

// hubParts adds what the hub tells of itself, each as a file that people read with their own tools.
func hubParts(ctx context.Context, c *api.Client, b *bundle) error {
	hub, err := c.Support(ctx)
	if err != nil {
		b.lacks("hub", err)
		return nil
	}
	if hub.MetricsCut {
		b.lacks("hub/metrics.txt", protocol.Errorf(protocol.CodeUnsupported, op, "it is longer than the hub sends"))
	}
	if err := b.put("hub/config.json", hub.Config, nil); err != nil {
		return err
	}
	if err := b.text("hub/log.txt", hub.Log); err != nil {
		return err
	}
	if err := b.text("hub/metrics.txt", hub.Metrics); err != nil {
		return err
	}
	return b.put("hub/started.json", map[string]any{"version": hub.Version, "startedAt": hub.StartedAt}, nil)
}
