package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/depot"
)

// shelf is a place in memory that fails as a test says.
type shelf struct {
	mu     sync.Mutex
	kept   map[string][]byte
	swept  int
	fails  error               // of what is put
	spoil  func([]byte) []byte // what is read back
	during func()              // while something is put
	prune  error               // of a removal
}

func (s *shelf) String() string { return "the shelf" }

func (s *shelf) Put(ctx context.Context, name string, write func(io.Writer) error, check func(io.Reader) error) error {
	var out bytes.Buffer
	if err := write(&out); err != nil {
		return err
	}
	if s.during != nil {
		s.during()
	}
	s.mu.Lock()
	fails := s.fails
	s.mu.Unlock()
	if err := errors.Join(fails, ctx.Err()); err != nil {
		return err
	}
	back := out.Bytes()
	if s.spoil != nil {
		back = s.spoil(bytes.Clone(back))
	}
	if err := check(bytes.NewReader(back)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[name] = out.Bytes()
	return nil
}

func (s *shelf) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.kept[name])), nil
}

func (s *shelf) List(context.Context) (list []depot.Kept, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, raw := range s.kept {
		made, _ := depot.MadeAt(name)
		list = append(list, depot.Kept{Name: name, Size: int64(len(raw)), Made: made})
	}
	depot.Sort(list)
	return list, nil
}

func (s *shelf) Remove(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prune != nil {
		return s.prune
	}
	delete(s.kept, name)
	return nil
}

func (s *shelf) Sweep(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept++
	return nil
}

// fail has what is kept from now on fail; nil does not.
func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// refuse has what is removed from now on refused.
func (s *shelf) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune = err
}

func (s *shelf) names() (out []string) {
	list, _ := s.List(context.Background())
	for _, k := range list {
		out = append(out, k.Made.Format("01-02 15:04"))
	}
	return out
}

// source is a hub with a stream that is longer than a part, and some files.
func source(t *testing.T) Source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"pki/ca.pem": "a key", "pki/.new-ca.pem-123": "half", "pki/old/ca.pem": "older", "audit/01.jsonl": "one\ntwo\nthr", "audit/.new-02": "x", "top": "t", "other": "o"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return Source{
		Streams: []Stream{{Name: "s", Copy: func(_ context.Context, w io.Writer) (backupfile.Stream, error) {
			_, err := w.Write(bytes.Repeat([]byte("12345678"), (partSize+8)/8))
			return backupfile.Stream{Name: "s", Last: 3, Messages: 3}, err
		}}},
		Audit: func() backupfile.AuditHead { return backupfile.AuditHead{Seq: 2} }, Epoch: func() uint64 { return 4 },
		Folders: []Folder{
			{Name: "audit", Dir: filepath.Join(dir, "audit"), Flat: true, Takes: Segments, Appended: true},
			{Name: "pki", Dir: filepath.Join(dir, "pki"), Flat: true},
			{Dir: dir, Flat: true, Takes: func(name string) bool { return name == "top" }},
			{Name: "gone", Dir: filepath.Join(dir, "gone")},
		},
		Clock: time.Now,
	}
}

func room(t *testing.T, s *shelf, change func(*Config)) (*Room, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	s.kept = map[string][]byte{}
	cfg := Config{
		Source: source(t), Plain: true, Place: s, Schedule: Schedule{Every: time.Hour}, Keep: 3, StateFile: filepath.Join(t.TempDir(), "backup.json"),
		Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: reg,
	}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, reg
}

// What a backup has: the stream in parts, of what grows whole lines, and nothing unfinished or deeper.
func TestMake(t *testing.T) {
	r, _ := room(t, &shelf{}, nil)
	write, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Begin(); protocol.CodeOf(err) != protocol.CodeUnavailable || !r.Running() {
		t.Errorf("a second one: %v", err)
	}
	var out bytes.Buffer
	if err := write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	m, err := backupfile.Read(&out, nil, func(name string, _ int64, data io.Reader) error {
		raw, err := io.ReadAll(data)
		if len(raw) < 20 {
			name += ": " + string(raw)
		}
		got = append(got, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"store/s/000001", "store/s/000002: 12345678", "audit/01.jsonl: one\ntwo\n", "pki/ca.pem: a key", "top: t"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if m.Epoch != 4 || m.Audit.Seq != 2 || len(m.Streams) != 1 || r.Running() {
		t.Errorf("%+v", m)
	}
	if _, err := r.Begin(); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// A backup has the hub's keys: nobody gets one that the hub's file does not say how to encrypt.
func TestRefused(t *testing.T) {
	r, _ := room(t, &shelf{}, func(c *Config) { c.Plain = false })
	if _, err := r.Begin(); protocol.CodeOf(err) != protocol.CodeUnsupported || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if err := r.Run(t.Context()); err != nil || r.Status().Sealed != "" {
		t.Errorf("%v, %+v", err, r.Status())
	}
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	r, _ = room(t, &shelf{}, func(c *Config) { c.Plain, c.To = false, []backupfile.Recipient{key.Recipient()} })
	write, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(t.Context(), &out); err != nil || r.Status().Sealed != "age" {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte("a key")) {
		t.Error("it is not encrypted")
	}
	if _, err := backupfile.Read(&out, []backupfile.Identity{key}, nil); err != nil {
		t.Error(err)
	}
	bad := Config{Source: source(t), Place: &shelf{}, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()}
	if _, err := New(bad); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a state file: %v", err)
	}
}

// begin runs a room for a while, until stop.
func begin(t *testing.T, r *Room) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Backups are made at intervals, also over a restart, and the newest are kept.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		var cfg Config
		r, reg := room(t, s, func(c *Config) { cfg = *c })
		stop := begin(t, r)
		time.Sleep(lookEvery)
		synctest.Wait()
		if d := cmp.Diff([]string{"01-01 00:00"}, s.names()); d != "" || s.swept != 1 {
			t.Errorf("swept %d, %s", s.swept, d)
		}
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		if d := cmp.Diff([]string{"01-01 02:00", "01-01 03:00", "01-01 04:00"}, s.names()); d != "" {
			t.Error(d)
		}
		st := r.Status()
		if st.Last == nil || st.Failure != nil || st.Overdue || st.Next == nil || st.Next.Format("15:04") != "05:00" || st.Last.Size == 0 || len(st.Last.SHA256) != 64 {
			t.Errorf("%+v", st)
		}
		stop()
		problems, err := testutil.GatherAndLint(reg)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
		if err := testutil.GatherAndCompare(reg, strings.NewReader("# HELP rackboot_hub_backup_last_success_timestamp_seconds Of when the last backup is that the hub made by itself and read back; 0 before the first.\n"+
			"# TYPE rackboot_hub_backup_last_success_timestamp_seconds gauge\nrackboot_hub_backup_last_success_timestamp_seconds 9.466992e+08\n"), "rackboot_hub_backup_last_success_timestamp_seconds"); err != nil {
			t.Error(err)
		}
		// Started again before it is due, and after: once, not at once and not many times.
		for _, away := range []time.Duration{10 * time.Minute, 5 * time.Hour} {
			time.Sleep(away)
			cfg.Registerer = prometheus.NewRegistry()
			if r, err = New(cfg); err != nil {
				t.Fatal(err)
			}
			before := s.names()[2]
			stop = begin(t, r)
			time.Sleep(lookEvery)
			synctest.Wait()
			if made := s.names()[2] != before; made != (away > time.Hour) {
				t.Errorf("away for %s: %q", away, s.names())
			}
			stop()
		}
	})
}

// What fails is tried again, at longer and longer intervals, says class and hint, removes nothing, and is
// overdue after twice the time between two.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		r, reg := room(t, s, nil)
		stop := begin(t, r)
		defer stop()
		time.Sleep(2*time.Hour + lookEvery)
		synctest.Wait()
		before := s.names()
		s.fail(protocol.Errorf(protocol.CodeUnavailable, "keep", "no space left").WithHint("make room"))
		time.Sleep(70 * time.Minute)
		synctest.Wait()
		st := r.Status()
		if f := st.Failure; f == nil || f.Code != protocol.CodeUnavailable || f.Hint != "make room" || f.Count < 3 || f.Count > 5 || f.Since.Format("15:04") != "03:00" || st.Overdue {
			t.Errorf("%+v", f)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if st := r.Status(); !st.Overdue || st.Failure.Count > 8 {
			t.Errorf("%+v, %+v", st, st.Failure)
		}
		if n := metric(t, reg, "rackboot_hub_backup_failures_total"); n < 5 {
			t.Errorf("%v failures", n)
		}
		if d := cmp.Diff(before, s.names()); d != "" {
			t.Errorf("something was removed: %s", d)
		}
		s.fail(nil)
		time.Sleep(time.Hour + lookEvery)
		synctest.Wait()
		if st := r.Status(); st.Overdue || st.Failure != nil || len(s.names()) != 3 {
			t.Errorf("%+v", st)
		}
		// Old ones that cannot be removed are no failure of the new one.
		s.refuse(errors.New("denied"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if st := r.Status(); st.Failure != nil || len(s.names()) != 4 {
			t.Errorf("%+v, %q", st, s.names())
		}
	})
}

// One that is due while somebody has one made waits for it.
func TestTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		r, _ := room(t, s, nil)
		write, err := r.Begin()
		if err != nil {
			t.Fatal(err)
		}
		stop := begin(t, r)
		defer stop()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := r.Status(); st.Last != nil || st.Failure != nil {
			t.Errorf("%+v", st)
		}
		if err := write(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := r.Status(); st.Last == nil || st.Failure != nil {
			t.Errorf("%+v", st)
		}
	})
}

// What is read back otherwise than it was written is no backup, whether the hub can open it or not; and one
// that hangs is given up.
func TestReadBack(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	another := func(to ...backupfile.Recipient) func([]byte) []byte {
		return func([]byte) []byte {
			var out bytes.Buffer
			w, err := backupfile.NewWriter(&out, backupfile.Header{}, to)
			if err == nil {
				_, err = w.Close(backupfile.Manifest{})
			}
			if err != nil {
				t.Error(err)
			}
			return out.Bytes()
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	for name, row := range map[string]struct {
		spoil func([]byte) []byte
		to    []backupfile.Recipient
	}{
		"a flipped byte": {flip, nil}, "a flipped byte, encrypted": {flip, []backupfile.Recipient{key.Recipient()}}, "cut": {func(b []byte) []byte { return b[:len(b)-1] }, nil},
		"another one": {another(), nil}, "another one, encrypted": {another(key.Recipient()), []backupfile.Recipient{key.Recipient()}},
	} {
		s := &shelf{spoil: row.spoil}
		r, _ := room(t, s, func(c *Config) { c.To, c.Plain = row.to, row.to == nil })
		if _, err := r.keep(t.Context()); err == nil || protocol.HintOf(err) == "" || len(s.kept) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{during: func() { time.Sleep(7 * time.Hour) }}
		r, _ := room(t, s, nil)
		stop := begin(t, r)
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := r.Status(); st.Running == nil {
			t.Errorf("%+v", st)
		}
		time.Sleep(8 * time.Hour)
		synctest.Wait()
		if st := r.Status(); st.Last != nil || st.Failure == nil {
			t.Errorf("%+v", st)
		}
	})
}

func metric(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestDue(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	hourly, night := Schedule{Every: time.Hour}, Schedule{At: 2*time.Hour + 30*time.Minute, Zone: berlin}
	now := at("2026-11-20 12:00")
	for _, row := range []struct {
		name string
		s    Schedule
		last time.Time
		want time.Time
	}{
		{"none yet", hourly, time.Time{}, now},
		{"none yet, at night", night, time.Time{}, now},
		{"an hour after", hourly, at("2026-11-20 11:30"), at("2026-11-20 12:30")},
		{"long ago", hourly, at("2026-11-19 11:30"), at("2026-11-19 12:30")},
		{"a clock that was ahead", hourly, at("2026-11-21 00:00"), now},
		{"by day", night, at("2026-11-20 11:30"), at("2026-11-21 02:30")},
		{"before the night", night, at("2026-11-20 02:29"), at("2026-11-20 02:30")},
		{"in the night", night, at("2026-11-20 02:30"), at("2026-11-21 02:30")},
		{"a night without that time", night, at("2026-03-28 12:00"), at("2026-03-29 03:30")},
	} {
		if got := row.s.due(row.last, now); !got.Equal(row.want) {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	for n, want := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 900: time.Hour} {
		if got := (Schedule{Every: 24 * time.Hour}).retry(now, n); !got.Equal(now.Add(want)) {
			t.Errorf("after %d failures: %s", n, got.Sub(now))
		}
	}
}
