package client

import (
	"context"
	"time"

	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
)

const (
	firstPoll = 100 * time.Millisecond
	// Every is the pause between two looks at something that is followed.
	Every = time.Second
	// firstLook is how long the first look may take where the timeout is shorter: a wait
	// that ends says what there is, and a slow dial is no reason to know nothing.
	firstLook = 10 * time.Second
)

// Poll asks until check says that it is done. What check says of the state is told
// whenever it changes. While the hub is unavailable it goes
// on asking. After the timeout the code is timeout, with the last state; the first look
// is made whatever the timeout is, and what a look has found counts however late.
func Poll(ctx context.Context, timeout time.Duration, what string, tell func(state string), check func(context.Context) (state string, done bool, err error)) error {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	look, end := context.WithTimeout(whole, max(timeout, firstLook))
	defer end()
	last, pause := "", firstPoll
	for {
		state, done, err := check(look)
		late := look.Err() != nil
		look = ctx
		switch {
		case err != nil && late:
			return gaveUp(whole, what, last, timeout)
		case protocol.CodeOf(err) == protocol.CodeUnavailable:
			state = err.Error()
		case err != nil:
			return err
		}
		if state != last && !done {
			tell(state)
			last = state
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return gaveUp(whole, what, last, timeout)
		case <-time.After(pause):
			pause = min(2*pause, Every)
		}
	}
}

func gaveUp(whole context.Context, what, last string, timeout time.Duration) error {
	if whole.Err() != nil {
		return protocol.Errorf(protocol.CodeTimeout, "wait", "%s: interrupted; last: %s", what, terminal.Cell(last)).
			WithHint("nothing was undone; wait again, and see rackctl describe")
	}
	return protocol.Errorf(protocol.CodeTimeout, "wait", "%s: not after %s; last: %s", what, timeout, terminal.Cell(last)).
		WithHint("nothing was undone; wait again with a longer --timeout, and see rackctl describe")
}
