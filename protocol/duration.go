package protocol

import (
	"fmt"
	"time"
)

// Duration is a time.Duration that is written as "180s" or "1h30m".
type Duration time.Duration

// D is the duration as the standard library knows it.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String is as of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the Go form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the Go form.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 30s or 5m", b)
	}
	*d = Duration(v)
	return nil
}
