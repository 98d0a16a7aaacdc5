package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/storm/judge"
	"rackboot/integration/storm/rig"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// config is what the command line says.
type config struct {
	bin     string
	seed    uint64
	last    time.Duration // of the faults
	faults  []string      // empty: all
	root    bool          // what needs root is not skipped
	rows    bool          // each row is exercised
	hubs    int
	small   bool
	keep    bool
	verbose bool
	out     io.Writer
}

// jobs are the servers' operators, two of each job.
func jobs() []Job { return []Job{JobHold, JobReboot, JobClaim, JobRollout, JobHeld} }

const serversEach = 2

// jobOf is a server's job, by its number. What is beyond two of each is for probes.
func jobOf(i int) Job {
	if i >= serversEach*len(jobs()) {
		return JobProbe
	}
	return jobs()[i%len(jobs())]
}

// serversOf is how many servers a site with so many hubs has.
func serversOf(hubs int) int {
	if hubs > 1 {
		return serversEach*len(jobs()) + 1
	}
	return serversEach * len(jobs())
}

// grouped are the numbers of the servers that are a group.
func grouped() (out []int) {
	for i := range serversEach * len(jobs()) {
		if jobOf(i) == JobRollout {
			out = append(out, i)
		}
	}
	return out
}

// storm is a storm that goes on.
type storm struct {
	config
	dir     string
	site    *rig.Site
	begun   judge.Time
	book    *book
	polls   *poller
	jobs    map[string]Job
	desks   []*operator
	spans   []span
	skipped map[string]string

	recoveries []judge.Recovery
	probes     []judge.Probe
	heads      []judge.Heads
	clerk      *clerk       // of several hubs
	gate       sync.RWMutex // who holds it for writing has the operators wait
	mu         sync.Mutex   // of out
}

func (s *storm) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, "%s  %s\n", at(s.begun, powerlog.Now()), fmt.Sprintf(format, args...)) // a terminal that is gone ends nothing
}

// settleFor is how long the site may take to come to rest after the last fault.
const settleFor = 45 * time.Second

// run is a whole storm. It returns how many rows failed; an error is the storm's own.
func run(ctx context.Context, c config) (failed int, err error) {
	all, err := chosen(c.all(), c.faults)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "rackboot-storm-")
	if err != nil {
		return 0, err
	}
	s := &storm{config: c, dir: dir, begun: powerlog.Now(), jobs: map[string]Job{}, skipped: map[string]string{}}
	s.say("seed %d; replay it with: make storm ARGS='-seed %d%s'", c.seed, c.seed, c.several())
	s.site, err = rig.Open(ctx, rig.Config{Bin: c.bin, Dir: dir, Hubs: c.hubs, Servers: serversOf(c.hubs), Group: grouped()})
	if err != nil {
		return 0, fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	s.site.Note = s.say
	defer func() {
		clean := err == nil && failed == 0 && !c.keep
		if !clean {
			err = errors.Join(err, s.site.Keep())
		}
		err = errors.Join(err, s.site.Close())
		if clean && err == nil {
			err = os.RemoveAll(dir)
			return
		}
		s.say("logs and state are in %s", dir)
	}()
	h, err := s.history(ctx, newPlan(c.seed, all, isMarked))
	if err != nil {
		return 0, err
	}
	v := judge.Judge(h)
	rows := tabulate(names(all), s.spans, v, marks())
	if c.hubs > 1 {
		times(s.out, s.probes)
	}
	failed = report(s.out, s.begun, rows, s.skipped, c.rows)
	if c.keep || failed > 0 {
		err = s.dump(h)
	}
	return failed, err
}

// dump writes what is judged, to be looked at.
func (s *storm) dump(h judge.History) error {
	raw, err := json.MarshalIndent(struct {
		Begun   judge.Time
		Spans   []span
		History judge.History
	}{s.begun, s.spans, h}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "history.json"), raw, 0o600)
}

func isMarked(fault string) bool {
	return slices.ContainsFunc(marks(), func(m mark) bool { return m.fault == fault })
}

// chosen are the faults whose names begin with one of the words.
func chosen(all []fault, words []string) ([]fault, error) {
	if len(words) == 0 {
		return all, nil
	}
	for _, w := range words {
		if !slices.ContainsFunc(all, func(f fault) bool { return strings.HasPrefix(f.name, w) }) {
			return nil, fmt.Errorf("no fault begins with %q; there are %s", w, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(f fault) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(f.name, w) })
	}), nil
}

// all are the faults that the site can have.
func (c config) all() []fault {
	switch {
	case c.small:
		return slices.DeleteFunc(hubFaults(), func(f fault) bool { return !isSmall(f) })
	case c.hubs > 1:
		return hubFaults()
	}
	return faults()
}

// several is what the command line says of several hubs.
func (c config) several() string {
	switch {
	case c.small:
		return fmt.Sprintf(" -hubs %d -small", c.hubs)
	case c.hubs > 1:
		return fmt.Sprintf(" -hubs %d", c.hubs)
	}
	return ""
}

// history lets the storm happen and returns what it left behind.
func (s *storm) history(ctx context.Context, p plan) (judge.History, error) {
	s.book, s.polls = &book{}, newPoller(s.site)
	if s.verbose {
		s.book.say = func(op judge.Op) {
			s.say("%s %s %s %s: %s %s", op.Server, op.Kind, op.Target, op.Ref, op.Result, op.Why)
		}
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var watch, work sync.WaitGroup
	watch.Go(func() { s.polls.run(watching) })
	watch.Go(func() { s.keepAgent(watching) })
	if s.hubs > 1 {
		watch.Go(func() { s.watchHeads(watching) })
	}
	defer watch.Wait()
	defer stopWatching()
	for i, v := range s.site.Servers {
		job := jobOf(i)
		s.jobs[v.Name] = job
		o := &operator{site: s.site, server: v.Name, job: job, dice: rand.New(rand.NewPCG(s.seed, uint64(i+1))), book: s.book, polls: s.polls, gate: &s.gate}
		s.desks = append(s.desks, o)
	}
	if err := s.group(ctx); err != nil {
		return judge.History{}, err
	}
	s.say("the site is up: %d servers; each is claimed", len(s.desks))
	for _, o := range s.workers() {
		work.Go(func() { o.claim(ctx) })
	}
	var unowned error
	if s.hubs > 1 {
		work.Go(func() { _, _, unowned = s.site.Owner(ctx) }) // which hub works where all live is known from now on
	}
	work.Wait()
	if unowned != nil {
		return judge.History{}, unowned
	}
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	for _, o := range s.workers() {
		work.Go(func() { o.work(working) })
	}
	if s.hubs > 1 {
		s.clerk = &clerk{site: s.site, dir: s.dir, book: s.book}
		work.Go(func() { s.clerk.work(working, s.clerk.upload) })
		work.Go(func() { s.clerk.work(working, s.clerk.export) })
	}
	pause(ctx, 3*time.Second)
	s.say("the storm begins")
	err := s.blow(ctx, p)
	s.say("the storm is over")
	stopWorking()
	work.Wait()
	if err != nil {
		return judge.History{}, err
	}
	h, err := s.rest(ctx)
	if s.hubs > 1 {
		stopWatching()
		watch.Wait()
		h.Hubs, h.Agents, h.Probes = s.hubs, s.heads, s.probes
	}
	return h, err
}

// workers are the operators but the one that measures.
func (s *storm) workers() []*operator {
	return slices.DeleteFunc(slices.Clone(s.desks), func(o *operator) bool { return o.job == JobProbe })
}

// keepAgent says which agent goes on where two had one disk, as an operator does who has ended the other,
// and accepts that what an older copy of a disk lacks is lost.
func (s *storm) keepAgent(ctx context.Context) {
	for ctx.Err() == nil {
		if said := s.site.KeepAgent(ctx); said != "" {
			s.say("%s", said)
		}
		if said := s.site.AcceptReverted(ctx); said != "" {
			s.say("%s", said)
			pause(ctx, 5*time.Second) // it is taken within seconds
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// group makes the group, whose servers one operator rolls out to.
func (s *storm) group(ctx context.Context) error {
	var first *operator
	for _, o := range s.desks {
		if o.job == JobRollout {
			if first == nil {
				first = o
			}
			first.group = append(first.group, o.server)
		}
	}
	return first.regroup(ctx)
}

// blow damages the site by the plan.
func (s *storm) blow(ctx context.Context, p plan) error {
	end := time.Now().Add(s.last)
	if s.hubs > 1 {
		probes := calmProbes
		if s.small {
			probes = 1
		}
		for range probes {
			s.measure(ctx, calm, 0)
		}
	}
	for _, x := range p.directed {
		if err := s.strike(ctx, x); err != nil {
			return err
		}
	}
	for _, x := range p.random {
		if time.Now().After(end) || ctx.Err() != nil {
			break
		}
		if err := s.strike(ctx, x); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// calmProbes is how often is measured what a hold takes without a fault.
const calmProbes = 5

// measure probes, and releases what was held.
func (s *storm) measure(ctx context.Context, fault string, slack time.Duration) {
	s.probes = append(s.probes, s.probe(ctx, fault, slack))
	o := s.desks[len(s.desks)-1]
	if o.held != "" || o.hold(ctx, false) {
		o.release(ctx)
	}
}

// strike is one strike of the plan: injected, healed, and the site is given the time to come
// back.
func (s *storm) strike(ctx context.Context, x strike) error {
	pause(ctx, x.after)
	if slices.ContainsFunc(x.faults, func(f fault) bool { return f.quiet }) {
		s.gate.Lock()
		defer s.gate.Unlock()
	}
	s.site.Dice = rand.New(rand.NewPCG(x.dice, 1))
	first := len(s.spans)
	var heal []func() error
	for n, f := range x.faults {
		on := victims(f, n, s.jobs, s.site.Servers, rand.New(rand.NewPCG(x.dice, 0)))
		at := span{Fault: f.name, From: powerlog.Now()}
		for _, v := range on {
			err := f.inject(ctx, s.site, v)
			if errors.Is(err, errNoRoot) && !s.root {
				s.skipped[f.name] = err.Error()
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if v != nil {
				at.Servers = append(at.Servers, v.Name)
			}
			heal = append(heal, func() error {
				if err := f.heal(ctx, s.site, v); err != nil {
					return fmt.Errorf("%s: heal: %w", f.name, err)
				}
				return nil
			})
		}
		s.spans = append(s.spans, at)
	}
	var probing sync.WaitGroup
	defer probing.Wait()
	if s.hubs > 1 {
		probing.Go(func() { s.measure(ctx, x.faults[0].name, x.faults[0].slack) })
	}
	pause(ctx, x.last)
	failed := make([]error, len(heal))
	var all sync.WaitGroup
	for i, h := range heal {
		all.Go(func() { failed[i] = h() })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	now := powerlog.Now()
	back := s.comesBack(ctx)
	for i := range s.spans[first:] {
		at := &s.spans[first+i]
		at.Healed = now
		s.say("%-16s %s %s; %s", at.Fault, at.Healed.Sub(at.From).Round(100*time.Millisecond), strings.Join(at.Servers, " "), back)
	}
	return ctx.Err()
}

// backWithin is how long hub and agent may take to be there again after a fault: the longest
// wait of an agent between two connections, a minute, and some time to agree. What is
// not there by then is started again, as an operator does, and the judge is told.
const backWithin = 70 * time.Second

// comesBack waits until hub and agent serve, the hub can write, and both agree. It says how
// long that took.
func (s *storm) comesBack(ctx context.Context) string {
	r := judge.Recovery{From: powerlog.Now()}
	var last error
	back := func() bool { last = s.heard(ctx); return last == nil }
	for _, p := range s.site.Daemons() {
		if !p.Running() {
			r.By = s.startAgain(p, "it had ended: "+lastLine(p.Tail(2000)))
		}
	}
	if !until(ctx, backWithin, back) && ctx.Err() == nil {
		for _, p := range s.site.Daemons() {
			r.By = s.startAgain(p, fmt.Sprintf("not back within %s: %v", backWithin, last))
		}
		until(ctx, backWithin, back)
	}
	r.To = powerlog.Now()
	s.recoveries = append(s.recoveries, r)
	took := r.To.Sub(r.From).Round(100 * time.Millisecond)
	switch {
	case last != nil:
		return fmt.Sprintf("NOT back in %s: %v", took, last)
	case r.By != "":
		return fmt.Sprintf("back in %s, with help", took)
	}
	return fmt.Sprintf("back in %s", took)
}

// startAgain starts a process as an operator does, and returns what was done and why.
func (s *storm) startAgain(p *rig.Process, why string) string {
	var err error
	if p.Running() {
		err = p.Kill()
	}
	if err = errors.Join(err, p.Start()); err != nil {
		s.book.failed(err)
	}
	done := p.Name + " was started again by hand; " + why
	s.say("%s", done)
	return done
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// heard reports whether the hub serves and its agent is in step with it.
func (s *storm) heard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollFor)
	defer cancel()
	if err := s.site.Ready(ctx); err != nil {
		return err
	}
	if err := s.site.AgentAnswers(ctx); err != nil {
		return err
	}
	agents, err := api.GetAll[*resource.Agent](ctx, s.site.Client)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if a.Status.LastReport == nil {
			return errors.New("agent: the hub has not heard it")
		}
		if !maps.Equal(a.Status.Applied, a.Status.Sent) {
			return errors.New("agent: it does not have all documents")
		}
	}
	if s.site.Several != nil {
		return s.site.Agrees(ctx) // it writes, and the agent has all documents a while after that
	}
	return s.site.Write(ctx)
}

// rest brings everything to an end: each server is booted on if somebody must, and what is
// held stays held.
func (s *storm) rest(ctx context.Context) (judge.History, error) {
	var moves []string
	quiet := until(ctx, settleFor, func() bool {
		moves = s.restless(ctx)
		return len(moves) == 0
	})
	if !quiet {
		s.say("not at rest after %s: %s", settleFor, strings.Join(moves, "; "))
	}
	h := judge.History{Machines: map[string][]powerlog.Entry{}, Quiet: true, Recoveries: s.recoveries}
	s.verify(ctx)
	if s.clerk != nil {
		h.Files = s.clerk.files(ctx)
	}
	if err := s.polls.once(ctx); err != nil {
		return h, fmt.Errorf("the last poll: %w", err)
	}
	if err := s.audit(ctx, &h); err != nil {
		return h, err
	}
	h.End = powerlog.Now()
	var err error
	if h.Ops, err = s.book.all(); err != nil {
		return h, err
	}
	h.Polls = s.polls.all()
	for _, v := range s.site.Servers {
		if h.Machines[v.Name], err = v.Log(); err != nil {
			return h, err
		}
		if slices.Contains(h.Polls[len(h.Polls)-1].Claims, rig.ClaimName(v.Name)) {
			h.Claimed = append(h.Claimed, v.Name)
		}
	}
	// A fault's time goes on until the next strike.
	for i := range s.spans {
		s.spans[i].Until = h.End + 1
		for _, next := range s.spans[i+1:] {
			if next.From > s.spans[i].Healed {
				s.spans[i].Until = next.From
				break
			}
		}
	}
	return h, nil
}

// restless are the servers that are not as they are to be.
func (s *storm) restless(ctx context.Context) []string {
	found := make([]string, len(s.desks))
	var all sync.WaitGroup
	for i, o := range s.desks {
		all.Go(func() {
			if !s.restful(ctx, o) {
				found[i] = o.server
				if v := s.polls.server(o.server); v != nil {
					found[i] += fmt.Sprintf(" %+v", *v)
				}
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// restful reports whether a server is as it is to be, and does what an operator does if it
// is not.
func (s *storm) restful(ctx context.Context, o *operator) bool {
	v := s.polls.server(o.server)
	if v == nil {
		return false
	}
	switch {
	case o.job == JobProbe && o.key == "":
		return true
	case o.job == JobHeld && o.hold(ctx, false):
		return true // it stays
	case o.key != "":
		_ = o.hold(ctx, false) && o.release(ctx)
		return false
	}
	if !v.claim {
		o.claim(ctx)
		return false
	}
	if v.invalid {
		o.claimAgain(ctx)
		return false
	}
	if v.unexpected || v.spent || v.runs || v.undecided || len(v.holds) > 0 {
		o.boot(ctx)
		return false
	}
	return v.on && v.provisioned
}

// verify checks the audit log as an auditor does, of each hub.
func (s *storm) verify(ctx context.Context) {
	for _, which := range s.site.Contexts() {
		op := judge.Op{Kind: judge.OpVerify, Begun: powerlog.Now()}
		_, errs, code := s.site.Rackctl(ctx, append([]string{"audit", "verify", "--live", "--key", filepath.Join(s.site.HubData(), "hub.pub")}, which...)...)
		op.Ended, op.Result = powerlog.Now(), judge.Unknown
		switch code {
		case 0:
			op.Result = judge.Accepted
		case protocol.CodeConflict.ExitCode(), protocol.CodeDenied.ExitCode():
			op.Result, op.Why = judge.Refused, strings.TrimSpace(errs)
		}
		s.book.add(op)
	}
}

// audit reads the audit log, of each hub.
func (s *storm) audit(ctx context.Context, h *judge.History) error {
	all, err := s.site.Clients()
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := readAudit(ctx, c, h); err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
	}
	h.AuditRead = true
	return nil
}

func readAudit(ctx context.Context, c *api.Client, h *judge.History) error {
	for q := (api.AuditQuery{From: 1, Limit: api.MaxAuditPage}); ; {
		list, err := c.Audit.List(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			h.Audit = append(h.Audit, judge.AuditEntry{Op: e.Op, Target: e.Target, Outcome: e.Outcome})
		}
		if list.Next > list.Head {
			return nil
		}
		q.From = list.Next
	}
}
