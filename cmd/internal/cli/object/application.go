package object

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/apply"
	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// application is one apply of files, by one request or in parts.
type application struct {
	client    *api.Client
	printer   *printer.Printer
	index     *manifest.Index
	prune     *pruning
	dryRun    bool
	keepGoing bool
	fitter    fitter

	begun   time.Time
	refused manifest.Errors
	first   apply.Result   // that was refused
	results []apply.Result // for forms that are printed as a whole
	// show is called for each result of compare.
	show func(r apply.Result, want resource.Object) error
}

// compare has the hub check everything, and shows what would become of each.
func (a *application) compare(ctx context.Context) error {
	each := func(r apply.Result) error {
		if r.Outcome == apply.Refused {
			a.note(r)
			return nil
		}
		set, err := a.index.Set([]int{r.Index})
		if err != nil {
			return err
		}
		return a.show(r, set.Objects()[0])
	}
	job := apply.New(a.whole(ctx), a.client.Objects, apply.Options{DryRun: true, Once: a.index.Bytes() <= api.MaxBody, Each: each, Progress: func(string, int) {}})
	if err := job.Run(ctx); err != nil || len(a.refused) == 0 {
		return err
	}
	return ofCode(a.first.Code, "apply", protocol.HintOf(a.first.Err), a.refused)
}

// note keeps why a resource was refused.
func (a *application) note(r apply.Result) {
	list := a.wrong(r)
	if len(a.refused) == 0 {
		a.first = r
	}
	if len(a.refused) < listed {
		a.refused = append(a.refused, list...)
	}
	if a.printer.Tabular() && (!r.Checked || a.keepGoing) { // else all of them are the error
		a.printer.Progress("%s refused: %s", choice.Named(r.Kind, r.Name), list.Error())
	}
}

func (a *application) run(ctx context.Context) error {
	if !a.keepGoing && a.index.Bytes() <= api.MaxBody {
		all := make([]int, a.index.Len())
		for i := range all {
			all[i] = i
		}
		set, err := a.read(ctx, all)
		if err != nil {
			return err
		}
		if apply.Fits(set.Objects()) {
			return a.atOnce(ctx, set)
		}
	}
	return a.inParts(ctx)
}

// read reads some of the resources as they are applied.
func (a *application) read(ctx context.Context, list []int) (*manifest.Set, error) {
	set, err := a.index.Set(list)
	if err != nil {
		return nil, err
	}
	a.prune.mark(set.Objects())
	if a.dryRun {
		return set, a.fitter.fit(ctx, set)
	}
	return set, nil
}

// atOnce applies all or nothing.
func (a *application) atOnce(ctx context.Context, set *manifest.Set) error {
	out, err := a.client.Objects.Apply(ctx, set.Objects(), a.dryRun)
	if err != nil {
		return located(err, set)
	}
	var names, all []string
	for i, r := range out.Results {
		names = append(names, choice.Named(r.Kind, r.Name))
		all = append(all, a.lines(r, set.Objects()[i])...)
	}
	return a.printer.Text(out, names, strings.Join(all, "\n"))
}

// lines are what is said of a result.
func (a *application) lines(r api.ApplyResult, obj resource.Object) []string {
	line := choice.Named(r.Kind, r.Name) + " " + r.Outcome
	if a.dryRun {
		line += " (dry run)"
	}
	out := []string{line + defaulted(obj)}
	for _, b := range r.Reboots {
		out = append(out, rebootText(b, a.dryRun))
	}
	return out
}

// whole is a Set for an apply in parts.
type whole struct {
	*manifest.Index
	read func(list []int) (*manifest.Set, error)
}

func (a *application) whole(ctx context.Context) whole {
	return whole{a.index, func(list []int) (*manifest.Set, error) { return a.read(ctx, list) }}
}

// Objects implements apply.Set.
func (w whole) Objects(list []int) ([]resource.Object, error) {
	set, err := w.read(list)
	if err != nil {
		return nil, err
	}
	return set.Objects(), nil
}

// inParts applies what has no room in one request.
func (a *application) inParts(ctx context.Context) error {
	a.begun = time.Now()
	job := apply.New(a.whole(ctx), a.client.Objects, apply.Options{DryRun: a.dryRun, KeepGoing: a.keepGoing, Once: a.index.Bytes() <= api.MaxBody, Each: a.each, Progress: a.progress})
	err := job.Run(ctx)
	counts := job.Counts()
	if !a.printer.Tabular() && a.printer.Form != printer.FormName {
		if err := a.printer.Text(struct {
			Results []apply.Result `json:"results"`
		}{a.results}, nil, ""); err != nil {
			return err
		}
	}
	a.printer.Progress("%s", a.summary(counts))
	switch {
	case err != nil && job.Wrote():
		return protocol.Errorf(protocol.CodeOf(err), "apply", "%w", err).WithHint("run the same apply again: it goes on where this one ended")
	case err != nil:
		return err
	case counts[apply.Refused] == 0:
		return nil
	case !job.Wrote():
		if counts[apply.Refused] >= apply.RefusedMost && !a.keepGoing {
			a.printer.Progress("the check ended at %d: others may be wrong too", counts[apply.Refused])
		}
		return ofCode(a.first.Code, "apply", protocol.HintOf(a.first.Err), a.refused)
	}
	return protocol.Errorf(a.first.Code, "apply", "%d of %s were refused, and %d were not tried", counts[apply.Refused], printer.Plural(a.index.Len(), "resource"), counts[apply.NotTried]).
		WithHint("the others were applied; correct what is named, and run the same apply again")
}

// listed bounds the errors that are listed at the end.
const listed = 1000

// each says a result as it comes.
func (a *application) each(r apply.Result) error {
	pr := a.printer
	name := choice.Named(r.Kind, r.Name)
	if r.Outcome == apply.Refused {
		a.note(r)
	}
	switch {
	case pr.Form == printer.FormName:
		if r.Outcome == apply.Refused || r.Outcome == apply.NotTried {
			return nil
		}
		return pr.Text(nil, []string{name}, "")
	case !pr.Tabular():
		a.results = append(a.results, r)
		return nil
	case r.Outcome == apply.Refused:
		return nil
	}
	obj := resource.Object(nil)
	if r.Kind == resource.KindClaim {
		set, err := a.index.Set([]int{r.Index})
		if err != nil {
			return err
		}
		obj = set.Objects()[0]
	}
	return pr.Text(nil, nil, strings.Join(a.lines(r.ApplyResult, obj), "\n"))
}

// wrong is why a resource was refused, with its file and line.
func (a *application) wrong(r apply.Result) (list manifest.Errors) {
	for _, f := range r.Errors {
		list = append(list, a.index.At(r.Index, f.Path, f.Message))
	}
	if len(list) == 0 {
		list = append(list, a.index.At(r.Index, "", r.Err.Error()))
	}
	return list
}

// progress says how far it is where somebody looks.
func (a *application) progress(stage string, done int) {
	if !terminal.Screen(a.printer.Err) {
		return
	}
	rate := float64(done) / max(time.Since(a.begun).Seconds(), 0.001)
	a.printer.Telling(stage)(fmt.Sprintf("%d of %d, %.0f/s", done, a.index.Len(), rate))
	if done == a.index.Len() {
		a.printer.Settle()
		a.begun = time.Now()
	}
}

// summary counts the outcomes.
func (a *application) summary(counts map[string]int) string {
	var all []string
	for _, word := range []string{"created", "configured", "unchanged", apply.Refused, apply.NotTried, apply.Unknown} {
		if n := counts[word]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, word))
		}
	}
	text := strings.TrimSpace(printer.Plural(a.index.Len(), "resource") + ": " + strings.Join(all, ", "))
	if a.dryRun {
		text += " (dry run)"
	}
	return text
}
