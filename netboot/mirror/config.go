package mirror

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
	"rackboot/protocol"
)

// Config says what may be asked and how much may be kept. Zero values have defaults.
type Config struct {
	// Dir is the cache's own folder, created if it does not exist. Only one process may
	// open it.
	Dir string
	// Quota bounds all that is kept, in bytes; 20 GiB if 0. MinFree is how many bytes of
	// the file system are left alone.
	Quota, MinFree int64
	// MaxFile bounds one file, in bytes; 16 GiB if 0.
	MaxFile int64
	// Bases are the trees that may be asked; no other is.
	Bases []Base
	// Fresh is how long a file is used without asking again, where the other side says
	// nothing; 10 min if 0. Negative is how long an absent name stays so; 30 s if 0.
	Fresh, Negative time.Duration
	// Fetches bounds the requests under way, 16 if 0, and Queue those that wait, 256 if 0.
	Fetches, Queue int
	// Connect bounds a connection with its TLS handshake, 10 s if 0; Header the time to
	// the answer's header, 30 s if 0; Idle the time without a byte, 30 s if 0; Overall
	// one file, 6 h if 0.
	Connect, Header, Idle, Overall time.Duration
	// Wait bounds what one read or open waits, 1 min if 0; Patience what an open waits
	// for a newer version where there is an older one, 3 s if 0.
	Wait, Patience time.Duration
	// Ahead is how many bytes past what has arrived a reader waits for, rather than
	// going past by a request of its own; 8 MiB if 0.
	Ahead int64
	// Dial connects; that of net.Dialer if nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logger receives what changes; nil discards.
	Logger *slog.Logger
	// Registerer receives the metrics; nil is none.
	Registerer prometheus.Registerer
}

// withDefaults is the config with its defaults. Errors: invalid.
func (c Config) withDefaults(op string) (Config, error) {
	if c.Dir == "" {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "no folder for the cache").WithHint("name a folder that nothing else uses")
	}
	for _, v := range []struct {
		name  string
		value *int64
		or    int64
	}{
		{"Quota", &c.Quota, defaultQuota},
		{"MinFree", &c.MinFree, 0},
		{"MaxFile", &c.MaxFile, defaultMaxFile},
		{"Ahead", &c.Ahead, defaultAhead},
		{"Fresh", (*int64)(&c.Fresh), int64(defaultFresh)},
		{"Negative", (*int64)(&c.Negative), int64(defaultNegative)},
		{"Connect", (*int64)(&c.Connect), int64(defaultConnect)},
		{"Header", (*int64)(&c.Header), int64(defaultHeader)},
		{"Idle", (*int64)(&c.Idle), int64(defaultIdle)},
		{"Overall", (*int64)(&c.Overall), int64(defaultOverall)},
		{"Wait", (*int64)(&c.Wait), int64(defaultWait)},
		{"Patience", (*int64)(&c.Patience), int64(defaultPatience)},
	} {
		if *v.value < 0 {
			return c, protocol.Errorf(protocol.CodeInvalid, op, "%s is negative", v.name)
		}
		if *v.value == 0 {
			*v.value = v.or
		}
	}
	if c.Fetches < 0 || c.Queue < 0 {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "Fetches or Queue is negative")
	}
	if c.Fetches == 0 {
		c.Fetches = defaultFetches
	}
	if c.Queue == 0 {
		c.Queue = defaultQueue
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = guard.Calm(c.Logger)
	return c, nil
}
