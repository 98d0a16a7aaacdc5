package jetstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// A write is tried again while no answer comes. What it comes to says no more than is known: once a try may have been
// stored, only its own answer, or a conflict that was looked at, ends that.
func TestInsist(t *testing.T) {
	silence := mapError("op", "k", context.DeadlineExceeded)
	nobody := mapError("op", "k", nats.ErrNoResponders)
	noLeader := mapError("op", "k", &natsjs.APIError{ErrorCode: errNoLeader})
	full := mapError("op", "k", &natsjs.APIError{ErrorCode: errStorageExceeded})
	conflict := protocol.Errorf(protocol.CodeConflict, "op", "%w", state.ErrConflict)
	underWay := mapError("op", "k", errUnderWay)
	for name, row := range map[string]struct {
		tries []error // of the last one on, it stays so
		code  protocol.Code
		lost  bool // whether the last try is told that one before may have been stored
		many  bool // it is tried until its time is over
	}{
		"at once":                          {[]error{nil}, "", false, false},
		"refused":                          {[]error{full}, protocol.CodeUnavailable, false, false},
		"a conflict":                       {[]error{conflict}, protocol.CodeConflict, false, false},
		"after an election":                {[]error{nobody, noLeader, nil}, "", false, false},
		"nobody leads":                     {[]error{nobody}, protocol.CodeUnavailable, false, true},
		"silence":                          {[]error{silence}, protocol.CodeTimeout, true, true},
		"answered the second time":         {[]error{silence, nil}, "", true, false},
		"silence, and then nobody":         {[]error{silence, nobody}, protocol.CodeTimeout, true, true},
		"silence, and then refused":        {[]error{silence, full}, protocol.CodeTimeout, true, false},
		"silence, and somebody was first":  {[]error{silence, conflict}, protocol.CodeConflict, true, false},
		"silence, and it is under way":     {[]error{silence, underWay}, protocol.CodeTimeout, true, true},
		"nobody, and then somebody's":      {[]error{nobody, conflict}, protocol.CodeConflict, false, false},
		"silence, under way, and answered": {[]error{silence, underWay, nil}, "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := &stream{cfg: Config{Timeout: 5 * time.Second}}
				n, told := 0, false
				seq, err := st.insist(t.Context(), "op", "k", func(_ context.Context, lost bool) (uint64, error) {
					now := row.tries[min(n, len(row.tries)-1)]
					told = lost
					if n++; now != nil {
						return 0, now
					}
					return 7, nil
				})
				if protocol.CodeOf(err) != row.code || (err == nil) != (seq == 7) {
					t.Errorf("%d, %v", seq, err)
				}
				if row.code != "" && row.code != protocol.CodeConflict && protocol.HintOf(err) == "" {
					t.Error("it does not say what to do")
				}
				if told != row.lost {
					t.Errorf("the last try was told that one before may be stored: %t", told)
				}
				if many := n > len(row.tries); many != row.many {
					t.Errorf("%d tries", n)
				}
				if errors.Is(err, state.ErrConflict) != (row.code == protocol.CodeConflict) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
