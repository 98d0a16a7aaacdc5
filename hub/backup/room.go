package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/backupfile"
	"rackboot/state"
	"rackboot/state/depot"
	"rackboot/state/file"
)

// Config is what a Room needs.
type Config struct {
	// Source is what is copied.
	Source Source
	// To are the keys that backups are encrypted for. Without one and without Plain none is made: a
	// backup has the hub's private keys.
	To    []backupfile.Recipient
	Plain bool
	// Keys open what is encrypted, for reading it back in full; without them only the file's own sums
	// are verified, and that it is what was written.
	Keys []backupfile.Identity
	// Place is where backups are kept by themselves; nil is nowhere.
	Place    depot.Place
	Schedule Schedule
	Keep     int
	// StateFile says of the last backup, also after a restart.
	StateFile  string
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Room makes backups, one at a time. It is safe for concurrent use.
type Room struct {
	cfg Config
	one chan struct{} // has room for the one that is being made

	mu       sync.Mutex
	running  time.Time // zero if none is being made
	last     *api.BackupMade
	failure  *api.BackupFailure
	next     time.Time
	failures uint64
}

// New makes a Room. Errors: invalid.
func New(cfg Config) (*Room, error) {
	if cfg.Source.Clock == nil || cfg.Clock == nil || cfg.Logger == nil || cfg.Registerer == nil || cfg.Place != nil && (cfg.StateFile == "" || !cfg.Schedule.set()) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "configure backups", "Source, Clock, Logger and Registerer are required, and with a Place a StateFile and a Schedule")
	}
	r := &Room{cfg: cfg, one: make(chan struct{}, 1)}
	r.read()
	if err := cfg.Registerer.Register(collector{r}); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "configure backups", "%w", err)
	}
	return r, nil
}

// Refused says why no backup can be made; nil if one can. It does not wait.
func (r *Room) Refused() error {
	if len(r.cfg.To) > 0 || r.cfg.Plain {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnsupported, "make backup", "the hub's file does not say for whom backups are encrypted").
		WithHint("a backup has the hub's private keys: give public keys of age-keygen in backup.recipients of hub.yaml, or backup.plain: true, and restart the hub")
}

// Running reports whether a backup is being made.
func (r *Room) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.running.IsZero()
}

// begin takes the place of the one that is made, if need be when it is free; end leaves it.
func (r *Room) begin(ctx context.Context, wait bool) (end func(), err error) {
	if err := r.Refused(); err != nil {
		return nil, err
	}
	free := ctx.Done()
	if !wait {
		now := make(chan struct{})
		close(now)
		free = now
	}
	select {
	case r.one <- struct{}{}:
	default:
		select {
		case r.one <- struct{}{}:
		case <-free:
			return nil, protocol.Errorf(protocol.CodeUnavailable, "make backup", "another backup is being made").WithHint("try again when it has ended; rackctl backup status shows it")
		}
	}
	r.mu.Lock()
	r.running = r.cfg.Clock()
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		r.running = time.Time{}
		r.mu.Unlock()
		<-r.one
	}, nil
}

// Begin takes the place of the one backup that may be made, and returns what makes it. write must be
// called once. Errors: unsupported, unavailable.
func (r *Room) Begin() (write func(ctx context.Context, w io.Writer) error, err error) {
	end, err := r.begin(context.Background(), false)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, w io.Writer) error {
		defer end()
		_, err := r.cfg.Source.Make(ctx, w, r.cfg.To)
		return err
	}, nil
}

// keep makes a backup in the place, and removes old ones once it was read back.
func (r *Room) keep(ctx context.Context) (api.BackupMade, error) {
	end, err := r.begin(ctx, true)
	if err != nil {
		return api.BackupMade{}, err
	}
	defer end()
	began := r.cfg.Clock().UTC()
	out := api.BackupMade{Name: depot.Name(began), Made: began.Truncate(time.Second)}
	var made backupfile.Manifest
	written := &measured{sum: sha256.New()}
	err = r.cfg.Place.Put(ctx, out.Name, func(w io.Writer) (err error) {
		made, err = r.cfg.Source.Make(ctx, io.MultiWriter(w, written), r.cfg.To)
		return err
	}, func(back io.Reader) error { return r.verify(back, written, made) })
	if err != nil {
		return out, err
	}
	out.Size, out.SHA256, out.Seconds = written.n, written.hex(), r.cfg.Clock().Sub(began).Seconds()
	gone, err := depot.Prune(ctx, r.cfg.Place, r.cfg.Keep)
	for _, name := range gone {
		r.cfg.Logger.Info("old backup removed", "name", name)
	}
	if err != nil { // the new one is there all the same
		r.cfg.Logger.Warn("old backups were not removed", "place", r.cfg.Place.String(), "err", err)
	}
	return out, nil
}

// verify reads a backup back: it is what was written, and fits together as far as the hub has a key.
func (r *Room) verify(back io.Reader, written *measured, made backupfile.Manifest) error {
	const op = "verify backup"
	read := &measured{sum: sha256.New()}
	back = io.TeeReader(back, read)
	var err error
	if made.Sealed == backupfile.Plain || len(r.cfg.Keys) > 0 {
		_, err = backupfile.Read(back, r.cfg.Keys, nil)
	} else {
		_, err = backupfile.Whole(back)
	}
	if err != nil {
		return err
	}
	if read.n != written.n || read.hex() != written.hex() {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%d bytes were written, and %d others were read back", written.n, read.n).
			WithHint("the disk or the store that it was written to loses what it is given: look at it, and do not trust what it has")
	}
	return nil
}

// measured is a writer that counts.
type measured struct {
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
	n int64
}

func (m *measured) Write(b []byte) (int, error) {
	m.n += int64(len(b))
	return m.sum.Write(b)
}

func (m *measured) hex() string { return hex.EncodeToString(m.sum.Sum(nil)) }

// read takes over what the file says of the last backup. A file that says nothing is as good as none.
func (r *Room) read() {
	if r.cfg.Place == nil {
		return
	}
	raw, err := os.ReadFile(r.cfg.StateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var last api.BackupMade
	if err := errors.Join(err, json.Unmarshal(raw, &last)); err != nil {
		r.cfg.Logger.Warn("what the last backup was cannot be read; one is made now", "path", r.cfg.StateFile, "err", err)
		return
	}
	r.last = &last
}

// ended keeps what became of an attempt.
func (r *Room) ended(made api.BackupMade, err error) {
	now := r.cfg.Clock().UTC()
	r.mu.Lock()
	if err == nil {
		r.last, r.failure = &made, nil
	} else {
		f := api.BackupFailure{At: now, Since: now, Code: protocol.CodeOf(err), Detail: err.Error(), Hint: protocol.HintOf(err), Count: 1}
		if r.failure != nil {
			f.Since, f.Count = r.failure.Since, r.failure.Count+1
		}
		r.failure = &f
		r.failures++
	}
	r.mu.Unlock()
	if err != nil {
		r.cfg.Logger.Error("no backup was made", "place", r.cfg.Place.String(), "code", protocol.CodeOf(err), "err", err, "hint", protocol.HintOf(err))
	} else {
		r.cfg.Logger.Info("backup made and read back", "place", r.cfg.Place.String(), "name", made.Name, "bytes", made.Size, "seconds", made.Seconds)
		raw, _ := json.Marshal(made) // a struct of plain values
		if err := file.Replace(r.cfg.StateFile, append(raw, '\n'), 0o600); err != nil {
			r.cfg.Logger.Warn("what the last backup was is not kept over a restart", "err", err)
		}
	}
}

// Status says how the hub is backed up.
func (r *Room) Status() api.BackupStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := api.BackupStatus{Last: r.last, Failure: r.failure}
	switch {
	case len(r.cfg.To) > 0:
		s.Sealed = string(backupfile.SealedAge)
	case r.cfg.Plain:
		s.Sealed = string(backupfile.Plain)
	}
	if !r.running.IsZero() {
		s.Running = new(r.running.UTC())
	}
	if r.cfg.Place == nil {
		return s
	}
	s.Place, s.Every, s.Keep = r.cfg.Place.String(), protocol.Duration(r.cfg.Schedule.every()), r.cfg.Keep
	if !r.next.IsZero() {
		s.Next = new(r.next.UTC())
	}
	s.Overdue = r.overdue()
	return s
}

// overdue reports whether the last backup is older than twice the time between two.
func (r *Room) overdue() bool {
	return r.last != nil && r.cfg.Clock().Sub(r.last.Made) > 2*r.cfg.Schedule.every() || r.last == nil && r.failure != nil && r.cfg.Clock().Sub(r.failure.Since) > 2*r.cfg.Schedule.every()
}
