package fdlimit

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

const (
	lookEvery = 5 * time.Second
	sayEvery  = time.Minute
)

// Watch looks every 5 s whether a file can be opened, until ctx ends. Errors: internal if
// its metric cannot be registered.
func Watch(ctx context.Context, log *slog.Logger, reg prometheus.Registerer) error {
	return watch(ctx, log, reg, open)
}

func watch(ctx context.Context, log *slog.Logger, reg prometheus.Registerer, open func() error) error {
	reached := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_file_limit_reached_total", Help: "Looks, one every 5 s, that found no file descriptor free.",
	})
	if err := reg.Register(reached); err != nil {
		return protocol.Errorf(protocol.CodeInternal, "watch file descriptors", "cannot register metrics: %w", err)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var said time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var limit string
		err := open()
		switch {
		case errors.Is(err, syscall.EMFILE):
			limit = "RLIMIT_NOFILE"
		case errors.Is(err, syscall.ENFILE):
			limit = "fs.file-max"
		default:
			continue // what else is wrong is said by who opens files
		}
		reached.Inc()
		if !said.IsZero() && time.Since(said) < sayEvery {
			continue
		}
		said = time.Now()
		log.Error("no file descriptor is free: no connection is taken and no file opened", "limit", limit, "value", value(limit), "hint", hint(limit))
	}
}

// open opens a file that is always there.
func open() error {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	return f.Close()
}

// value is that of the process's limit; 0 of the host's, which needs a file to be read.
func value(limit string) uint64 {
	var r syscall.Rlimit
	if limit != "RLIMIT_NOFILE" || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return r.Cur
}

func hint(limit string) string {
	if limit == "RLIMIT_NOFILE" {
		return "raise LimitNOFILE in the daemon's systemd unit and restart it; before that, look who holds so many connections"
	}
	return "the limit of the whole host is reached: raise it with sysctl fs.file-max, or find the process that holds so many files"
}
