package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// RefusedMost bounds what a check looks for, unless the job keeps going: who has written so much that is wrong
// corrects that first.
const RefusedMost = 100

// checkAll has the hub check everything, each part with what it refers to in other parts.
func (j *Job) checkAll(ctx context.Context) error {
	done := 0
	return j.inParts(j.order, func(part []int, objs []resource.Object) error {
		if j.counts[Refused] >= RefusedMost && !j.opts.KeepGoing {
			return nil
		}
		if err := j.unique(part, objs); err != nil {
			return err
		}
		err := j.check(ctx, part, objs)
		done += len(part)
		j.opts.Progress("checked", done)
		return err
	})
}

// check has the hub check some resources. Of what it says of all of them together, it asks again for each half.
func (j *Job) check(ctx context.Context, list []int, objs []resource.Object) error {
	list, objs = j.whole(list, objs)
	if len(list) == 0 || j.counts[Refused] >= RefusedMost && !j.opts.KeepGoing {
		return nil
	}
	more, add, ok, err := j.beside(list, objs)
	if err != nil {
		return err
	}
	half := len(list) / 2
	if !ok {
		if half == 0 {
			return nil // it is checked when it is written
		}
		if err := j.check(ctx, list[:half], objs[:half]); err != nil {
			return err
		}
		return j.check(ctx, list[half:], objs[half:])
	}
	all := append(append([]int(nil), list...), more...)
	out, _, err := j.ask(ctx, append(append([]resource.Object(nil), objs...), add...), true)
	p, _ := errors.AsType[*api.Problem](err)
	switch {
	case err == nil:
		return j.foresee(list, out.Results)
	case !ofObjects(err):
		return err
	case p != nil && len(p.Errors) > 0:
		before := j.counts[Refused]
		if err := j.refuseAll(all, err, p.Errors); err != nil || j.counts[Refused] == before {
			return err
		}
		return j.check(ctx, list, objs) // without those
	case half == 0:
		return j.refuse(list[0], err)
	}
	if err := j.check(ctx, list[:half], objs[:half]); err != nil {
		return err
	}
	return j.check(ctx, list[half:], objs[half:])
}

// whole are those that are not refused, and rest on nothing that is, directly or not.
func (j *Job) whole(list []int, objs []resource.Object) (l []int, o []resource.Object) {
	for n, i := range list {
		switch {
		case j.outcomes[i].final():
		case slices.ContainsFunc(j.refersTo(objs[n]), func(r int) bool { return j.outcomes[r].gone() || j.rests[r] }):
			j.rests[i] = true
		default:
			l, o = append(l, i), append(o, objs[n])
		}
	}
	return l, o
}

// foresee keeps what a check has said of resources.
func (j *Job) foresee(list []int, results []api.ApplyResult) error {
	if len(results) < len(list) {
		return protocol.Errorf(protocol.CodeInternal, "apply", "the hub answered for %d of %d resources", len(results), len(list))
	}
	for n, i := range list {
		j.foreseen[i] = outcomeOf(results[n].Outcome)
		for _, b := range results[n].Reboots {
			if b.Outcome == "released" {
				j.last[i] = true
			}
		}
		if j.opts.DryRun {
			if err := j.end(Result{Index: i, ApplyResult: results[n]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseAll refuses the resources of which a hub names wrong fields, and no others.
func (j *Job) refuseAll(sent []int, err error, fields []api.FieldProblem) error {
	of := map[int][]api.FieldProblem{}
	var order []int
	for _, f := range fields {
		if f.Index < 0 || f.Index >= len(sent) {
			return err
		}
		i := sent[f.Index]
		if of[i] == nil {
			order = append(order, i)
		}
		f.Index = i
		of[i] = append(of[i], f)
	}
	for _, i := range order {
		if err := j.refuse(i, err, of[i]...); err != nil {
			return err
		}
	}
	return nil
}

// unique refuses what only one server may have, and servers of different parts both want: their parts are each
// right for the hub.
func (j *Job) unique(list []int, objs []resource.Object) error {
	for n, o := range objs {
		s, is := o.(*resource.Server)
		if !is {
			continue
		}
		var wrong []api.FieldProblem
		own := map[string]bool{}
		claim := func(path, value string) {
			if value == "" || own[value] {
				return
			}
			own[value] = true
			first, taken := j.taken[value]
			if !taken {
				j.taken[value] = list[n]
			} else if first != list[n] {
				wrong = append(wrong, api.FieldProblem{
					Index: list[n], Kind: resource.KindServer, Name: s.Metadata.Name, Path: path,
					Message: fmt.Sprintf("%s is already of server %q", value, j.set.Name(first)),
				})
			}
		}
		claim("spec.bootMAC", s.Spec.BootMAC)
		for m, mac := range s.Spec.MACs {
			claim(fmt.Sprintf("spec.macs[%d]", m), mac)
		}
		claim("spec.uuid", s.Spec.UUID)
		if len(wrong) > 0 {
			err := protocol.Errorf(protocol.CodeInvalid, "apply", "%s: %s", wrong[0].Path, wrong[0].Message)
			if err := j.refuse(list[n], err, wrong...); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofObjects reports whether a hub refuses what it was sent, and not who sent it; and was there at all.
func ofObjects(err error) bool {
	if p, is := errors.AsType[*api.Problem](err); is && p.Status == http.StatusUnauthorized {
		return false
	}
	switch protocol.CodeOf(err) {
	case protocol.CodeInvalid, protocol.CodeNotFound, protocol.CodeConflict, protocol.CodeDenied, protocol.CodeUnsupported:
		return true
	default:
		return false
	}
}
