package fdlimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// The limit is counted at each look and said once a minute, by its name.
func TestWatch(t *testing.T) {
	for name, row := range map[string]struct {
		err        error
		lines      int
		says       []string
		from, over time.Duration
	}{
		"the process's":  {syscall.EMFILE, 2, []string{"RLIMIT_NOFILE", "LimitNOFILE", "value="}, 10 * time.Second, 90 * time.Second},
		"the host's":     {syscall.ENFILE, 1, []string{"fs.file-max"}, 0, 30 * time.Second},
		"something else": {syscall.EIO, 0, nil, 0, 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, reg := new(strings.Builder), prometheus.NewRegistry()
				began := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					done <- watch(ctx, slog.New(slog.NewTextHandler(log, nil)), reg, func() error {
						if at := time.Since(began); at > row.from && at <= row.over {
							return &os.PathError{Op: "open", Path: os.DevNull, Err: row.err}
						}
						return nil
					})
				}()
				time.Sleep(5 * time.Minute)
				cancel()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(log.String(), "\n"); n != row.lines {
					t.Errorf("%d lines, want %d:\n%s", n, row.lines, log)
				}
				for _, s := range row.says {
					if !strings.Contains(log.String(), s) {
						t.Errorf("%q is not in the log:\n%s", s, log)
					}
				}
				want := 0
				if row.lines > 0 {
					want = int((row.over - row.from) / lookEvery)
				}
				text := fmt.Sprintf("# HELP rackboot_file_limit_reached_total Looks, one every 5 s, that found no file descriptor free.\n# TYPE rackboot_file_limit_reached_total counter\nrackboot_file_limit_reached_total %d\n", want)
				if err := testutil.GatherAndCompare(reg, strings.NewReader(text)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The kernel's own answer is recognised.
func TestLimitReached(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	if err := open(); err != nil {
		t.Fatal(err)
	}
	less := limit
	less.Cur = 0 // no further one, whatever is open
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less); err != nil {
		t.Fatal(err)
	}
	err := open()
	if restored := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); restored != nil {
		t.Fatal(restored)
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%v", err)
	}
}
