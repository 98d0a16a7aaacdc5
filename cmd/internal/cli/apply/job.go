package apply

import (
	"context"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Set is what is applied. Its resources are known by their indexes.
type Set interface {
	Len() int
	Kind(i int) resource.Kind
	Name(i int) string
	Find(kind resource.Kind, name string) (int, bool)
	// Objects reads some of them.
	Objects(list []int) ([]resource.Object, error)
}

// Hub applies a set that fits into one request, as [api.Objects] does.
type Hub interface {
	Apply(ctx context.Context, objs []resource.Object, dryRun bool) (api.ApplyAnswer, error)
}

// The outcomes that no hub says.
const (
	Refused  = "refused"   // by the hub, with an error
	NotTried = "not tried" // it refers to one that is refused, or the apply ended before
	Unknown  = "unknown"   // it was sent, and nothing was heard
)

// Result is what became of one resource.
type Result struct {
	Index int `json:"-"`
	api.ApplyResult
	// Code and Errors say why the hub refused it.
	Code   protocol.Code      `json:"code,omitempty"`
	Errors []api.FieldProblem `json:"errors,omitempty"`
	Err    error              `json:"-"`
	// Checked says that it is of the check: nothing of this resource is written.
	Checked bool `json:"-"`
}

// Options say how to apply.
type Options struct {
	// DryRun has everything checked, and nothing written.
	DryRun bool
	// Once has it be one part, if there is room in a request.
	Once bool
	// KeepGoing writes what is not refused also where the check has refused something.
	KeepGoing bool
	// Each is called with each result as it comes: of the check with DryRun, or where it has refused something;
	// else of the write.
	Each func(Result) error
	// Progress is called after each part with how many resources were checked or written.
	Progress func(stage string, done int)
}

// Job is one apply.
type Job struct {
	set  Set
	hub  Hub
	opts Options

	outcomes []outcome // by index: what is said of it so far
	foreseen []outcome // what the check has said
	last     map[int]bool
	order    []int
	taken    map[string]int // what only one server may have -> who
	counts   map[string]int
	writing  bool
	most     int          // resources of a part
	bytes    int          // of a part
	lost     map[int]bool // an answer about it was lost
	rests    map[int]bool // on what the check has refused
}

// New makes a job.
func New(set Set, hub Hub, opts Options) *Job {
	j := &Job{
		set: set, hub: hub, opts: opts, outcomes: make([]outcome, set.Len()), foreseen: make([]outcome, set.Len()),
		last: map[int]bool{}, lost: map[int]bool{}, rests: map[int]bool{}, order: inOrder(set), taken: map[string]int{}, counts: map[string]int{},
		most: partMost, bytes: partBytes,
	}
	if opts.Once {
		j.most, j.bytes = set.Len(), api.MaxBody
	}
	return j
}

// Counts are how many resources have which outcome. After an error the rest of them is [NotTried].
func (j *Job) Counts() map[string]int {
	out := map[string]int{}
	said := 0
	for word, n := range j.counts {
		out[word] = n
		said += n
	}
	if rest := j.set.Len() - said; rest > 0 {
		out[NotTried] += rest
	}
	return out
}

// Run checks and writes. An error ended it: nothing is known of a hub that answers no more, or a file cannot be
// read. That resources are refused is no error here; see [Job.Counts].
func (j *Job) Run(ctx context.Context) error {
	if err := j.checkAll(ctx); err != nil {
		return err
	}
	if j.opts.DryRun || j.counts[Refused] > 0 && !j.opts.KeepGoing {
		return nil
	}
	j.writing = true
	// What lets a server go comes after all else, as within one request.
	rest := slices.DeleteFunc(slices.Clone(j.order), func(i int) bool { return j.last[i] })
	late := slices.DeleteFunc(slices.Clone(j.order), func(i int) bool { return !j.last[i] })
	done := 0
	for _, list := range [][]int{rest, late} {
		err := j.inParts(list, func(part []int, objs []resource.Object) error {
			err := j.write(ctx, part, objs)
			done += len(part)
			j.opts.Progress("applied", done)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Wrote reports whether it came to writing. Else the check has refused something, or was all that was wanted.
func (j *Job) Wrote() bool { return j.writing }

// inOrder are the indexes of a set by kind: each resource comes after those that it refers to, and else as in the
// files.
func inOrder(set Set) []int {
	rank := map[resource.Kind]int{}
	for n, k := range resource.Kinds() {
		rank[k] = n
	}
	order := make([]int, set.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[set.Kind(a)] - rank[set.Kind(b)] })
	return order
}

// end says the result of a resource, once.
func (j *Job) end(r Result) error {
	if j.outcomes[r.Index].final() {
		return nil
	}
	j.outcomes[r.Index] = outcomeOf(r.Outcome)
	j.counts[r.Outcome]++
	r.Kind, r.Name, r.Checked = j.set.Kind(r.Index), j.set.Name(r.Index), !j.writing
	return j.opts.Each(r)
}

// refuse says that a resource is refused.
func (j *Job) refuse(i int, err error, fields ...api.FieldProblem) error {
	return j.end(Result{Index: i, ApplyResult: api.ApplyResult{Outcome: Refused}, Code: protocol.CodeOf(err), Errors: fields, Err: err})
}
