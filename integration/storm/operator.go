package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/storm/judge"
	"rackboot/integration/storm/rig"
	"rackboot/protocol"
)

// Job is what an operator does with a server, over and over.
type Job string

// The jobs. Each server has one, so that every fault meets all of them.
const (
	JobHold    Job = "hold"    // hold, wait for the proof, release
	JobReboot  Job = "reboot"  // reboot
	JobClaim   Job = "claim"   // delete the claim and make it again: a first boot each time
	JobHeld    Job = "held"    // one hold that lies all the time
	JobProbe   Job = "probe"   // nothing but what measures; of several hubs
	JobRollout Job = "rollout" // give a group of two another image; the second server's does nothing
)

// operator works with one server by rackctl. What it was told is all that it knows.
type operator struct {
	site   *rig.Site
	server string
	job    Job
	dice   *rand.Rand
	book   *book
	polls  *poller
	gate   *sync.RWMutex // held for writing while operators are to wait
	serial int
	group  []string // the group's servers, of who rolls out
	// key is of the hold that was asked for and may lie, and held its id where that is
	// known. JobHeld keeps it for all the time.
	key, held string
	mode      string
}

// patience bounds one call of rackctl, and what it waits for.
const (
	callFor = 8 * time.Second
	waitFor = 15 * time.Second
)

// work goes on until ctx ends. What was begun is brought to an end.
func (o *operator) work(ctx context.Context) {
	for ctx.Err() == nil {
		o.boot(ctx)
		switch o.job {
		case JobHold:
			o.holdAndRelease(ctx, o.dice.IntN(3) > 0)
		case JobRollout:
			o.rollout(ctx)
		case JobReboot:
			o.reboot(ctx)
		case JobClaim:
			o.claimAgain(ctx)
		case JobHeld:
			if o.held == "" {
				o.hold(ctx, true)
			}
		case JobProbe: // measure has its server
		}
		pause(ctx, 300*time.Millisecond+time.Duration(o.dice.Int64N(int64(time.Second))))
	}
}

// boot has a server boot on that something else has stopped.
func (o *operator) boot(ctx context.Context) {
	s := o.polls.server(o.server)
	if s != nil && o.key == "" {
		for _, id := range s.holds { // that came back after it was released
			o.releaseOnce(ctx, id)
		}
	}
	switch {
	case s == nil || o.key != "":
	case s.undecided:
		o.adopt(ctx)
	case s.runs:
		o.reboot(ctx, "--any-phase")
	case s.spent:
		o.resume(ctx, "--retry")
	case s.unexpected:
		o.resume(ctx)
	}
}

func (o *operator) resume(ctx context.Context, more ...string) {
	o.call(ctx, callFor, judge.Op{Kind: judge.OpResume, Retry: slices.Contains(more, "--retry"), AuditOp: "request", AuditTarget: "Server/" + o.server},
		append([]string{"resume", o.server, "--reason", "storm", "-o", "name"}, more...)...)
	pause(ctx, time.Second)
}

// adopt has a server installed that was On when it was bound, as a button may have it.
func (o *operator) adopt(ctx context.Context) {
	o.call(ctx, callFor, judge.Op{Kind: judge.OpAdopt, AuditOp: "accept", AuditTarget: "Server/" + o.server},
		"server", "adopt", o.server, "--reprovision", "--reason", "storm", "-o", "name")
	pause(ctx, time.Second)
}

// ref is a name that nobody has used.
func (o *operator) ref() string {
	o.serial++
	return fmt.Sprintf("storm-%s-%d", o.server, o.serial)
}

// hold has one hold lie on the server, and reports whether it does. With one key, again is
// the same hold, so that it asks until it knows.
func (o *operator) hold(ctx context.Context, wait bool) bool {
	if o.key == "" {
		o.key, o.mode = o.ref(), []string{"soft", "hard"}[o.dice.IntN(2)]
	}
	args := []string{"hold", o.server, "--key", o.key, "--mode", o.mode, "-o", "name"}
	op := judge.Op{Kind: judge.OpHold, Ref: o.key, AuditOp: "hold", AuditTarget: "Server/" + o.server}
	for o.held == "" && ctx.Err() == nil {
		done := o.call(ctx, callFor, op, args...)
		if o.held = done.Target; o.held == "" {
			pause(ctx, time.Second)
		}
	}
	if wait && o.held != "" && ctx.Err() == nil {
		op.Fenced = true
		o.call(ctx, waitFor+callFor, op, append(args, "--wait", "fenced", "--timeout", waitFor.String())...)
	}
	return o.held != ""
}

func (o *operator) holdAndRelease(ctx context.Context, wait bool) {
	if !o.hold(ctx, wait) {
		return
	}
	pause(ctx, time.Duration(o.dice.Int64N(int64(2*time.Second))))
	if o.release(ctx) && wait {
		o.runs(ctx)
	}
}

// release asks until it was told that the hold is released: what is refused, as by a hub
// that cannot write, is asked for again.
func (o *operator) release(ctx context.Context) bool {
	for ctx.Err() == nil {
		if o.releaseOnce(ctx, o.held) {
			o.key, o.held = "", ""
			return true
		}
		pause(ctx, time.Second)
	}
	return false
}

func (o *operator) releaseOnce(ctx context.Context, id string) bool {
	op := judge.Op{Kind: judge.OpRelease, Target: id, AuditOp: "release", AuditTarget: "Hold/" + id}
	return o.call(ctx, callFor, op, "release", id, "-o", "name").Result == judge.Accepted
}

// rollout gives the group its other image.
func (o *operator) rollout(ctx context.Context) {
	if len(o.group) == 0 {
		return
	}
	if err := o.regroup(ctx); err != nil {
		o.book.failed(err)
		return
	}
	// The roll-out goes on by itself.
	pause(ctx, 4*time.Second)
}

func (o *operator) regroup(ctx context.Context) error {
	path, err := o.site.Group(o.serial)
	if err != nil {
		return err
	}
	o.serial++
	op := judge.Op{Kind: judge.OpRollout, Target: rig.GroupName, Others: o.group, AuditOp: "apply", AuditTarget: "ServerGroup/" + rig.GroupName}
	o.call(ctx, callFor, op, "apply", "-f", path, "-o", "name")
	return nil
}

func (o *operator) reboot(ctx context.Context, more ...string) {
	ref := o.ref()
	done := o.call(ctx, callFor, judge.Op{Kind: judge.OpReboot, Ref: ref, AuditOp: "request", AuditTarget: "Server/" + o.server},
		append([]string{"reboot", o.server, "--ref", ref, "--mode", []string{"soft", "hard"}[o.dice.IntN(2)], "-o", "name"}, more...)...)
	if done.Target == "" {
		return
	}
	until(ctx, waitFor, func() bool { return o.polls.ended(done.Target) })
}

// claimAgain deletes the claim, waits until the server is free, and claims it again.
func (o *operator) claimAgain(ctx context.Context) {
	name := rig.ClaimName(o.server)
	if s := o.polls.server(o.server); s != nil && s.claim {
		if !s.invalid && !s.provisioned && !o.provisioned(ctx) {
			return // its boot goes on, or waits for somebody
		}
		o.call(ctx, callFor, judge.Op{Kind: judge.OpUnclaim, Target: name, AuditOp: "delete", AuditTarget: "Claim/" + name}, "delete", "claim", name, "-o", "name")
		until(ctx, waitFor, func() bool { s := o.polls.server(o.server); return s != nil && !s.claim })
		return
	}
	o.claim(ctx)
}

// claim claims the server.
func (o *operator) claim(ctx context.Context) {
	path, err := o.site.Claim(o.server)
	if err != nil {
		o.book.failed(err)
		return
	}
	name := rig.ClaimName(o.server)
	o.call(ctx, callFor, judge.Op{Kind: judge.OpClaim, Target: name, AuditOp: "apply", AuditTarget: "Claim/" + name}, "apply", "-f", path, "-o", "name")
	o.provisioned(ctx)
}

func (o *operator) provisioned(ctx context.Context) bool {
	return until(ctx, waitFor, func() bool { s := o.polls.server(o.server); return s != nil && s.claim && s.provisioned && s.on })
}

func (o *operator) runs(ctx context.Context) bool {
	return until(ctx, waitFor, func() bool { s := o.polls.server(o.server); return s != nil && (s.on || s.unexpected) })
}

// call asks for something of its server, and notes what was asked and answered.
func (o *operator) call(ctx context.Context, within time.Duration, op judge.Op, args ...string) judge.Op {
	o.gate.RLock()
	defer o.gate.RUnlock()
	op.Server = o.server
	op = ask(ctx, o.site, within, op, args...)
	o.book.add(op)
	if op.Kind == judge.OpReboot || op.Kind == judge.OpResume {
		o.polls.follow(op.Target)
	}
	return op
}

// ask runs rackctl once, and returns what was asked and answered. It is not ended with ctx: what was begun has an
// outcome.
func ask(ctx context.Context, site *rig.Site, within time.Duration, op judge.Op, args ...string) judge.Op {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	op.Begun = powerlog.Now()
	out, errs, code := site.Rackctl(ctx, args...)
	op.Ended, op.Result = powerlog.Now(), told(code)
	if op.Fenced && op.Result != judge.Accepted {
		// The hold may be there, only its proof was not.
		op.Fenced, op.Result = false, judge.Unknown
	}
	if op.Result == judge.Accepted {
		// kind/name, and of an apply what became of it; an export prints nothing
		if words := strings.Fields(out); len(words) > 0 && op.Target == "" {
			_, op.Target, _ = strings.Cut(words[0], "/")
		}
	} else {
		op.Why, op.Raw = strings.TrimSpace(errs), code == protocol.CodeInternal.ExitCode()
	}
	return op
}

// told is what an exit code says. One that does not say that nothing was done leaves it open.
func told(code int) judge.Result {
	switch code {
	case 0:
		return judge.Accepted
	case protocol.CodeInvalid.ExitCode(), protocol.CodeNotFound.ExitCode(), protocol.CodeConflict.ExitCode(),
		protocol.CodeDenied.ExitCode(), protocol.CodeUnsupported.ExitCode():
		return judge.Refused
	}
	return judge.Unknown
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// until looks until it is so, for at most within, and reports whether it is.
func until(ctx context.Context, within time.Duration, so func() bool) bool {
	deadline := time.After(within)
	for !so() {
		select {
		case <-ctx.Done():
			return false
		case <-deadline:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}
