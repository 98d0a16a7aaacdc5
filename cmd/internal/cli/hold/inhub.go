package hold

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/asked"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// bulkFor is how long a bulk operation is waited for.
const bulkFor = 24 * time.Hour

// inHub is a verb that the hub works off where a selector means several servers.
type inHub struct {
	several
	noWait bool
}

func (s *inHub) flags(cmd *cobra.Command) {
	s.several.flags(cmd)
	cmd.Flags().BoolVar(&s.noWait, "no-wait", false, "with a selector: do not wait for the hub, and print the bulk operation that it works off")
}

// fits reports whether the hub is asked to do it.
func (s *inHub) fits(servers []string) bool { return s.choice.Selects() && len(servers) > 1 }

// ask has the hub do it, and waits. known is false where the hub is of before bulk operations: then nothing was done.
func (s *inHub) ask(ctx context.Context, pr *printer.Printer, c *api.Client, r api.BulkRequest) (b api.BulkStatus, known bool, err error) {
	if !s.KeepsGoing() {
		r.Parallel, r.StopAfter = 1, 1
	}
	b, err = c.Bulks.Create(ctx, r)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return b, false, nil
	}
	if err != nil || s.noWait {
		return b, true, err
	}
	tell := pr.Telling("bulk/" + b.ID)
	err = client.Poll(ctx, bulkFor, "bulk/"+b.ID, tell, func(ctx context.Context) (string, bool, error) {
		now, err := c.Bulks.Get(ctx, b.ID)
		if err == nil {
			b = now
		}
		return asked.BulkText(b), b.EndedAt != nil, err
	})
	if err != nil {
		pr.Progress("the hub goes on with bulk operation %s; rackctl bulk cancel %s ends it", b.ID, b.ID)
	}
	return b, true, err
}

// judge says what became of each as if they had been done one after another, and returns those that were done.
func (s *inHub) judge(pr *printer.Printer, b api.BulkStatus, servers []string) (done []string, err error) {
	became := outcomes(b)
	err = s.Each(pr, servers, became)
	for _, name := range servers {
		if became(name) == nil {
			done = append(done, name)
		}
	}
	return done, err
}

// outcomes says what became of a name; nil is done.
func outcomes(b api.BulkStatus) func(name string) error {
	became := map[string]api.BulkResult{}
	for _, r := range b.Results {
		became[r.Name] = r
	}
	return func(name string) error {
		switch r := became[name]; r.Outcome {
		case api.BulkItemDone:
			return nil
		case api.BulkItemFailed:
			return protocol.Errorf(r.Code, string(b.Action), "%s", r.Message).WithHint("%s", r.Hint)
		case api.BulkItemWaiting, api.BulkItemNotTried:
		}
		return protocol.Errorf(protocol.CodeConflict, string(b.Action), "was not tried: the bulk operation is %s", b.State).
			WithHint("rackctl describe bulk %s", b.ID)
	}
}

// showHolds shows what became of a bulk operation as the loop would.
func (s *inHub) showHolds(ctx context.Context, pr *printer.Printer, c *api.Client, b api.BulkStatus, servers []string, key, until string, timeout time.Duration) error {
	if s.noWait {
		return s.show(pr, b)
	}
	done, failed := s.judge(pr, b, servers)
	if len(done) == 0 {
		return failed
	}
	holds, err := s.holds(ctx, c, b.By, key, done)
	if err != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(finishHolds(ctx, pr, c, holds, until, timeout), failed)
}

// showRequests is as showHolds. ref is that of the requests; empty is the bulk operation's.
func (s *inHub) showRequests(ctx context.Context, pr *printer.Printer, c *api.Client, b api.BulkStatus, servers []string, ref string, wait bool, timeout time.Duration) error {
	if s.noWait {
		return s.show(pr, b)
	}
	done, failed := s.judge(pr, b, servers)
	if len(done) == 0 {
		return failed
	}
	all, err := s.requests(ctx, pr, c, b, cmp.Or(ref, "bulk/"+b.ID), done, wait, timeout)
	if len(all) > 0 {
		err = errors.Join(pr.Show(asked.View(all...)), err)
	}
	return errors.Join(err, failed)
}

// show shows the bulk operation itself.
func (s *inHub) show(pr *printer.Printer, b api.BulkStatus) error {
	v := asked.BulkView(b)
	v.Single = true
	return pr.Show(v)
}

// holds are the caller's with a key on servers.
func (s *inHub) holds(ctx context.Context, c *api.Client, by, key string, servers []string) ([]*resource.Hold, error) {
	all, err := api.GetAll[*resource.Hold](ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h *resource.Hold) bool {
		return h.Spec.Owner != by || h.Spec.Key != key || !slices.Contains(servers, h.Spec.Server)
	}), nil
}

// requests are those of a bulk operation for servers, as far as their agents have answered.
func (s *inHub) requests(ctx context.Context, pr *printer.Printer, c *api.Client, b api.BulkStatus, ref string, servers []string, wait bool, timeout time.Duration) (done []api.RequestStatus, err error) {
	all, err := c.Requests.List(ctx, "")
	if err != nil {
		return nil, err
	}
	mine, names := map[string]api.RequestStatus{}, []string{}
	meant := map[string]bool{}
	for _, name := range servers {
		meant[name] = true
	}
	for _, r := range all {
		if !meant[r.Server] || r.Ref != ref || r.By != b.By || string(r.Action) != string(b.Action) {
			continue
		}
		if _, again := mine[r.Server]; !again {
			names = append(names, r.Server)
		}
		mine[r.Server] = r // the newest: one with the same ref may have ended before
	}
	err = s.Each(pr, names, func(name string) error {
		r, err := follow(ctx, pr, c, mine[name], wait, timeout)
		if err == nil {
			done = append(done, r)
		}
		return err
	})
	return done, err
}
