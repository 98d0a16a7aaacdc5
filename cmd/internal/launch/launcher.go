package launch

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"rackboot/agent/installed"
	"rackboot/protocol/message"
)

// launcher starts programs, one after the other.
type launcher struct {
	config
	failed installed.Outcome // of the last trial that has failed; its order may still be in the record
	asked  bool              // somebody asked this process to end
	// unusable is a slot whose program could not be started; empty is none.
	unusable installed.Place
}

func newLauncher(cfg config) *launcher { return &launcher{config: cfg} }

// run starts programs until one ends that nothing follows, and returns the exit code.
func (l *launcher) run() int {
	// A child ends with the thread that made it; see Pdeathsig in prctl(2).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.files.Prepare(); err != nil {
		l.logger.Error("the folder of upgrades cannot be prepared", "err", err)
	}
	for {
		start, trial, steps := l.choose()
		end := l.child(start, trial, steps)
		r, err := l.files.Read()
		if err != nil {
			l.logger.Error("the record of upgrades cannot be read", "err", err)
		}
		next := installed.Ended(r, start, trial.Order, end, time.Now())
		if o := next.Failed; o.Order != "" {
			l.logger.Warn("the release is given up, and the one before is started", "order", o.Order, "code", o.Code, "why", o.Message)
			l.failed = o
		}
		if next.Unusable {
			l.unusable = start.Place
		}
		if !next.Again {
			return next.Code
		}
	}
}

// choose says what to start, and puts on disk what must be there before. trial is zero where the start is none.
func (l *launcher) choose() (start installed.Start, trial installed.Trial, steps int) {
	r, err := l.files.Read()
	sight := installed.Sight{Damaged: err != nil, Failed: l.failed, Now: time.Now()}
	if err != nil {
		l.logger.Error("the record of upgrades cannot be read", "err", err)
	}
	sight.Packaged = l.digest(l.agent)
	if r.Current != installed.Packaged && r.Current != l.unusable {
		sight.Current = l.digest(l.files.Program(r.Current))
	}
	if t := r.Trial; t != nil {
		sight.Trial = l.digest(l.files.Program(t.Slot))
		if sight.Spent, err = l.files.ReadSpent(t.Order); err != nil {
			l.logger.Error("the time of a trial cannot be read", "err", err)
			sight.Unbounded = true
		}
	}
	after, start := installed.Choose(r, sight)
	if start.Trial {
		steps = sight.Spent + 1
		if err := l.files.WriteSpent(installed.Spent{Order: r.Trial.Order, Steps: steps}); err != nil {
			l.logger.Error("the time of a trial cannot be written", "err", err)
			sight.Unbounded = true
			after, start = installed.Choose(r, sight)
		}
	}
	l.write(r, after, sight.Damaged)
	if start.Trial {
		trial = *after.Trial
	}
	return start, trial, steps
}

// write puts the record on disk if it is another one. Where that fails, the same is chosen again the next time.
func (l *launcher) write(before, after installed.Record, damaged bool) {
	if o := after.Last; o != nil && o != before.Last && o.Stage == message.UpgradeReturned {
		l.logger.Warn("another program of the agent runs", "order", o.Order, "place", after.Current, "code", o.Code, "why", o.Message)
	}
	if before == after && !damaged {
		return
	}
	if err := l.files.Write(after); err != nil {
		l.logger.Error("the record of upgrades cannot be written", "err", err)
	}
}

// digest is that of a program; empty if it cannot be read.
func (l *launcher) digest(path string) string {
	digest, err := installed.DigestOf(path)
	if err != nil {
		l.logger.Error("a program of the agent cannot be read", "err", err)
	}
	return digest
}

// child runs a program until it ends.
func (l *launcher) child(start installed.Start, trial installed.Trial, steps int) installed.End {
	if l.pending() {
		return installed.End{Asked: true}
	}
	path := l.agent
	if start.Place != installed.Packaged {
		path = l.files.Program(start.Place)
	}
	l.logger.Info("starts the agent", "program", path, "place", start.Place, "digest", start.Digest, "order", trial.Order)
	word, own, err := installed.Launched{Dir: l.files.Dir, Place: start.Place, Digest: start.Digest, Order: trial.Order}.Pass()
	if err != nil {
		return l.unstarted(err)
	}
	defer func() { _ = own.Close() }()
	cmd := exec.Command(path, l.args...) // #nosec G204 -- what it starts is what the record and the digest say
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{word}
	cmd.Env = append(os.Environ(), installed.Variable+"=3") // the first after standard error
	// Two agents must not run, whatever becomes of this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = errors.Join(cmd.Start(), word.Close())
	if cmd.Process == nil {
		return l.unstarted(err)
	}
	return l.watch(cmd, trial, steps)
}

func (l *launcher) unstarted(err error) installed.End {
	l.logger.Error("the agent cannot be started", "err", err)
	return installed.End{Unstarted: err.Error()}
}

// pending takes the signals that came while no program ran.
func (l *launcher) pending() bool {
	for {
		select {
		case sig := <-l.signals:
			l.asked = l.asked || ends(sig)
		default:
			return l.asked
		}
	}
}

// toldWithin is how long it takes at most until a signal for a group of processes, by which the agent ended, is here too.
const toldWithin = 200 * time.Millisecond

// told reports whether somebody has asked this process to end at the moment at which the agent did.
func (l *launcher) told() bool {
	for late := time.After(toldWithin); ; {
		select {
		case sig := <-l.signals:
			if ends(sig) {
				l.asked = true
				return true
			}
		case <-late:
			return false
		}
	}
}

// ends reports whether a signal asks a process to end.
func ends(sig os.Signal) bool {
	return sig != syscall.SIGHUP && sig != syscall.SIGUSR1 && sig != syscall.SIGUSR2
}

// watch passes signals to a program until it ends, and counts the time of a trial.
func (l *launcher) watch(cmd *exec.Cmd, trial installed.Trial, steps int) (end installed.End) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var tick, kill <-chan time.Time
	if trial.Order != "" {
		ticker := time.NewTicker(l.window / installed.Steps)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-done:
			end.Code = exitCode(cmd.ProcessState)
			end.Asked = end.Asked || trial.Order != "" && l.told()
			l.logger.Info("the agent has ended", "exit_code", end.Code)
			return end
		case sig := <-l.signals:
			if ends(sig) {
				l.asked, end.Asked = true, true
			}
			l.send(cmd, sig)
		case <-tick:
			switch {
			case !l.open(trial.Order):
				l.logger.Info("the hub has answered the release; it stays", "order", trial.Order, "version", trial.Version)
				tick = nil
			case steps >= installed.Steps:
				l.logger.Warn("the hub has not answered the release in time", "order", trial.Order, "version", trial.Version)
				tick, kill, end.Late = nil, time.After(l.grace), true
				l.send(cmd, syscall.SIGTERM)
			default:
				steps++
				if err := l.files.WriteSpent(installed.Spent{Order: trial.Order, Steps: steps}); err != nil {
					l.logger.Error("the time of a trial cannot be written", "err", err)
				}
			}
		case <-kill:
			kill = nil
			l.send(cmd, syscall.SIGKILL)
		}
	}
}

// open reports whether the trial of the order is still on.
func (l *launcher) open(order string) bool {
	r, err := l.files.Read()
	if err != nil {
		l.logger.Error("the record of upgrades cannot be read", "err", err)
		return true
	}
	return r.Trial != nil && r.Trial.Order == order
}

func (l *launcher) send(cmd *exec.Cmd, sig os.Signal) {
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		l.logger.Error("a signal did not reach the agent", "signal", sig.String(), "err", err)
	}
}

// exitCode is that of a process, and 128 and the signal's number where one ended it.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
