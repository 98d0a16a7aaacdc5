package group

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The exit codes of rollout status --watch besides 0 and those of protocol.Code.
const (
	exitPaused     = 10
	exitFailed     = 11
	exitRolledBack = 12
	exitAborted    = 13
	exitSuperseded = 14

	// goesOn is no exit code: there is more to come.
	goesOn = -1
)

// rolloutExit is the exit code for a roll-out in a phase, newer that it is already of a
// later revision than the one that was asked for. The first row that fits decides.
//
//	phase      | newer | exit
//	*          | yes   | 14
//	Completed  | no    | 0
//	Paused     | no    | 10
//	Failed     | no    | 11
//	RolledBack | no    | 12
//	Aborted    | no    | 13
//	Superseded | no    | 14
//	*          | no    | -1
func rolloutExit(phase resource.RolloutPhase, newer bool) int {
	switch {
	case newer, phase == resource.RolloutSuperseded:
		return exitSuperseded
	case phase == resource.RolloutCompleted:
		return 0
	case phase == resource.RolloutPaused:
		return exitPaused
	case phase == resource.RolloutFailed:
		return exitFailed
	case phase == resource.RolloutRolledBack:
		return exitRolledBack
	case phase == resource.RolloutAborted:
		return exitAborted
	}
	return goesOn
}

// rolloutWatch is what rollout status --watch follows.
type rolloutWatch struct {
	group    string
	revision int // 0 is the one of the first look
	timeout  time.Duration
	block    *terminal.Block // on a screen; nil elsewhere
}

// liveBlock is where something is written again in place; nil where nobody looks, or what
// looks cannot do that.
func liveBlock(src *files.Input, pr *printer.Printer) *terminal.Block {
	if !terminal.Screen(pr.Err) || src.Getenv("TERM") == "dumb" || !pr.Tabular() {
		return nil
	}
	return &terminal.Block{Out: pr.Err}
}

// watchRollout follows one roll-out to its end: on a screen in place, else by a line for
// each change. Then it prints the whole.
func watchRollout(ctx context.Context, pr *printer.Printer, c *api.Client, w rolloutWatch) error {
	what := "roll-out of group " + w.group
	var last rolloutReport
	tell := func(state string) {
		if w.block == nil {
			pr.Progress("%s: %s", what, state)
		}
	}
	// show says how it is, with a note above what was known last where that is on a screen.
	show := func(state, note string) (string, bool, error) {
		if w.block == nil {
			return state, false, nil
		}
		var lines []string
		if note != "" {
			lines = append(lines, what+": "+printer.Dash(note))
		}
		if last.Group != "" {
			columns, _ := terminal.Size(w.block.Out)
			lines = append(lines, strings.Split(rolloutText(last, time.Now(), false, columns), "\n")...)
		}
		return state, false, w.block.Draw(lines)
	}
	err := client.Poll(ctx, w.timeout, what, tell, func(ctx context.Context) (string, bool, error) {
		g, err := api.Get[*resource.ServerGroup](ctx, c, w.group)
		switch {
		case ctx.Err() == nil && protocol.CodeOf(err) == protocol.CodeUnavailable:
			return show(err.Error(), err.Error())
		case err != nil:
			return "", false, err
		case g.Status.Rollout == nil && w.revision == 0:
			return "", false, noRollout(g)
		case g.Status.Rollout == nil || g.Status.Rollout.Revision < w.revision:
			note := fmt.Sprintf("has not come to revision %d yet", w.revision)
			return show(note, note)
		}
		last = rolloutReportOf(g)
		if w.revision == 0 {
			w.revision = last.Rollout.Revision
		}
		if rolloutExit(last.Rollout.Phase, last.Rollout.Revision > w.revision) != goesOn {
			return "", true, nil
		}
		return show(rollout.Line(last.Rollout), "")
	})
	if w.block != nil && err == nil {
		err = w.block.Erase() // the whole comes below
	}
	if err != nil {
		return err
	}
	last.ask(ctx, c)
	if err := showRollout(pr, last); err != nil {
		return err
	}
	return rolloutEnd(last, w.revision)
}

// rolloutEnd is how a roll-out ended; nil is well.
func rolloutEnd(r rolloutReport, revision int) error {
	exit := rolloutExit(r.Rollout.Phase, r.Rollout.Revision > revision)
	if exit == 0 {
		return nil
	}
	how := map[int]string{
		exitPaused: "is paused", exitFailed: "failed", exitRolledBack: "was rolled back", exitAborted: "was aborted", exitSuperseded: "was superseded by a newer revision",
	}[exit]
	e := protocol.Errorf(protocol.CodeConflict, "rollout", "the roll-out of revision %d to group %s %s", revision, r.Group, how)
	switch {
	case exit == exitSuperseded:
		e.Hint = "rackctl group history " + r.Group + " lists the revisions"
	case r.Rollout.Reason != "":
		e.Message += ": " + printer.Dash(r.Rollout.Reason)
		fallthrough
	default:
		e.Hint = "what to do is listed above; rackctl rollout status " + r.Group + " shows it again"
	}
	return printer.WithExit(e, exit)
}
