package daemon

import (
	"crypto/rand"
	"strings"

	"github.com/oklog/ulid/v2"

	"rackboot/state/clock"
)

// newID makes ids that sort by time, in lower case so that they are names.
func newID() string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(clock.Now()), rand.Reader).String())
}
