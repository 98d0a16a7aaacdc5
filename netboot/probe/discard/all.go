package discard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"unicode"

	"rackboot/protocol"
)

// atOnce is how many disks are worked on at a time: each waits for its own drive.
const atOnce = 16

// Result is what became of a disk.
type Result struct {
	Disk Disk
	Done string // discarded, zeroed, skipped
	Err  error  // why it is as it was, or nobody knows
}

// All discards the disks, several at a time, and says what became of each, in their order.
// open opens one for itself alone.
func All(ctx context.Context, disks []Disk, m Method, open func(name string) (Device, error), log *slog.Logger) []Result {
	out := make([]Result, len(disks))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, d := range disks {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = one(ctx, d, m, open)
			log.Info("disk", "disk", d.Name, "bytes", d.Bytes, "done", out[i].Done, "err", out[i].Err)
		})
	}
	all.Wait()
	return out
}

func one(ctx context.Context, d Disk, m Method, open func(name string) (Device, error)) Result {
	switch {
	case d.Fail != "":
		return Result{Disk: d, Err: errors.New(d.Fail)}
	case d.Skip != "":
		return Result{Disk: d, Done: "skipped, " + d.Skip}
	}
	dev, err := open(d.Name)
	if err != nil {
		return Result{Disk: d, Err: err}
	}
	done, err := erase(ctx, dev, d.Bytes, m)
	return Result{d, done, errors.Join(err, dev.Close())}
}

// Report is the report of what became of the disks: booted if each was discarded that is
// not to be left alone, else failed. That there is none to discard is a failure too: the
// driver of their controller may be missing.
func Report(results []Result) protocol.ProbeReport {
	var failed, done []string
	discarded := 0
	for _, r := range results {
		text := fmt.Sprintf("%s (%d MB) ", r.Disk.Name, r.Disk.Bytes/1e6)
		switch {
		case r.Err != nil:
			failed = append(failed, text+r.Err.Error())
		default:
			done = append(done, text+r.Done)
			if r.Disk.Skip == "" {
				discarded++
			}
		}
	}
	state, message := protocol.ProbeBooted, strings.Join(done, "; ")
	switch {
	case len(failed) > 0:
		state, message = protocol.ProbeFailed, "not discarded: "+strings.Join(append(failed, done...), "; ")
	case discarded == 0:
		state, message = protocol.ProbeFailed, strings.TrimSuffix("no disk was found to discard; "+message, "; ")
	}
	return protocol.ProbeReport{State: state, Message: cut(message)}
}

// cut shortens a message to what a report may have.
func cut(message string) string {
	message = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, message)
	if len(message) <= protocol.MaxProbeMessage {
		return message
	}
	const more = " ..."
	return strings.ToValidUTF8(message[:protocol.MaxProbeMessage-len(more)], "") + more
}
