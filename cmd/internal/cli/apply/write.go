package apply

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// patience is how long a hub that does not answer is asked again.
	patience = 2 * time.Minute
	// firstPause is the wait before it is asked again; it doubles up to mostPause.
	firstPause = 200 * time.Millisecond
	mostPause  = 5 * time.Second
	// overtakenMost is how often what lost to other writers is sent again.
	overtakenMost = 3
)

// write applies some resources. What the hub refuses is taken out, with what refers to it, and the others are sent
// again. The hub writes all of what it is sent, or after a failure some: to send that again is safe.
func (j *Job) write(ctx context.Context, list []int, objs []resource.Object) error {
	for {
		var err error
		if list, objs, err = j.left(list, objs); err != nil || len(list) == 0 {
			return err
		}
		out, lost, err := j.ask(ctx, objs, false)
		if lost {
			for _, i := range list {
				j.lost[i] = true
			}
		}
		p, _ := errors.AsType[*api.Problem](err)
		switch half := len(list) / 2; {
		case err == nil:
			return j.written(list, out.Results)
		case !ofObjects(err):
			for _, i := range list {
				if err := j.end(Result{Index: i, ApplyResult: api.ApplyResult{Outcome: Unknown}}); err != nil {
					return err
				}
			}
			return err
		case p != nil && len(p.Errors) > 0:
			if err := j.refuseAll(list, err, p.Errors); err != nil {
				return err
			}
		case half == 0:
			return j.refuse(list[0], err)
		default:
			if err := j.write(ctx, list[:half], objs[:half]); err != nil {
				return err
			}
			list, objs = list[half:], objs[half:]
		}
	}
}

// left is what of some resources is to be written: what is refused is not, and what refers to it is not tried.
func (j *Job) left(list []int, objs []resource.Object) (l []int, o []resource.Object, err error) {
	for n, i := range list {
		switch {
		case j.outcomes[i].final():
		case slices.ContainsFunc(j.refersTo(objs[n]), func(r int) bool { return j.outcomes[r].gone() }):
			if err := j.end(Result{Index: i, ApplyResult: api.ApplyResult{Outcome: NotTried}}); err != nil {
				return nil, nil, err
			}
		default:
			l, o = append(l, i), append(o, objs[n])
		}
	}
	return l, o, nil
}

// written says the results of a part. Where an answer was lost on the way, what that request has written is unchanged
// for the next one: then the check has said what became of it.
func (j *Job) written(list []int, results []api.ApplyResult) error {
	if len(results) != len(list) {
		return protocol.Errorf(protocol.CodeInternal, "apply", "the hub answered for %d of %d resources", len(results), len(list))
	}
	for n, i := range list {
		r := results[n]
		if was := j.foreseen[i]; outcomeOf(r.Outcome).String() == "unchanged" && j.lost[i] && was.final() {
			r.Outcome = was.String()
		}
		if err := j.end(Result{Index: i, ApplyResult: r}); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request, and again while the hub does not answer, for a time, or other writers were faster. lost is true
// where one was sent and not answered.
func (j *Job) ask(ctx context.Context, objs []resource.Object, dryRun bool) (out api.ApplyAnswer, lost bool, err error) {
	begun, pause := time.Now(), firstPause
	for try := 1; ; try++ {
		out, err = j.hub.Apply(ctx, objs, dryRun)
		p, _ := errors.AsType[*api.Problem](err)
		code := protocol.CodeOf(err)
		overtaken := code == protocol.CodeConflict && (p == nil || len(p.Errors) == 0) && try < overtakenMost
		away := code == protocol.CodeUnavailable || code == protocol.CodeTimeout || p != nil && p.Status == http.StatusTooManyRequests
		if err == nil || ctx.Err() != nil || !overtaken && (!away || time.Since(begun) > patience) {
			return out, lost, err
		}
		lost = lost || away
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return out, lost, err
		}
		pause = min(2*pause, mostPause)
	}
}
