package trial

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// index counts what is read anew, and fails as often as it is told. A bubble's clock orders
// the test and the room, but the detector of races knows only of locks.
type index struct{ read, fails atomic.Int32 }

func (i *index) Changed() error {
	i.read.Add(1)
	if i.fails.Add(-1) >= 0 {
		return errors.New("a disk that fails")
	}
	return nil
}

// run is an agent's trials from its start to its end.
type run struct {
	t     *testing.T
	db    state.Store
	index *index
	store *store.Store
	room  *Room
	end   context.CancelFunc
	done  chan struct{}
}

const window = 2 * time.Minute

func (r *run) start() {
	r.t.Helper()
	var err error
	if r.store, err = store.Open(store.Config{DB: r.db, NewID: func() string { return "id" }}); err != nil {
		r.t.Fatal(err)
	}
	told := reports.New(reports.Config{Agent: "r1-1", Rack: "r1", Every: time.Minute, Clock: time.Now, Registerer: prometheus.NewRegistry()})
	r.room = New(Config{Store: r.store.Trials, Reports: told, Index: r.index, Window: window, Clock: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err := r.room.Resume(); err != nil {
		r.t.Fatal(err)
	}
	ctx, end := context.WithCancel(r.t.Context())
	r.end, r.done = end, make(chan struct{})
	go func() { r.room.Run(ctx); close(r.done) }()
}

func (r *run) stop() {
	r.end()
	<-r.done
}

// document brings segments, and reports whether they are on trial since.
func (r *run) document(version uint64, url string) bool {
	r.t.Helper()
	d := message.RackDoc{Head: protocol.Head{Epoch: 1, Version: version}, Shards: 1, Rack: &message.RackIntent{
		Segments: []resource.SegmentIntent{{Name: "boot-a", BaseURL: url}},
	}}
	if _, _, err := r.store.Documents.ApplyRack(d, url, nil); err != nil {
		r.t.Fatal(err)
	}
	begun, err := r.room.Offered()
	if err != nil {
		r.t.Fatal(err)
	}
	return begun
}

func (r *run) serves(when, url string) {
	r.t.Helper()
	synctest.Wait()
	o, err := r.store.Servers.Overview()
	if err != nil || o.Rack.Segments[0].BaseURL != url {
		r.t.Errorf("%s: %+v, %v; want %s", when, o.Rack.Segments, err, url)
	}
}

// What a document changed is served on trial: it stays once the hub was heard, and goes when the window has
// passed without. Starts of the agent end a trial sooner, and never later; what could not be taken
// over by the boot servers is taken over later.
func TestTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{t: t, db: statetest.NewMemory(), index: &index{}}
		r.start()
		if r.document(1, "a") {
			t.Error("the first document is on trial")
		}
		if !r.document(2, "b") || r.document(2, "b") {
			t.Error("a change is on trial, once")
		}
		time.Sleep(window / 2)
		r.room.Heard()
		time.Sleep(2 * window)
		r.serves("after the hub was heard", "b")

		if !r.document(3, "c") {
			t.Error("another change is on trial")
		}
		time.Sleep(window / 2)
		r.serves("in the window", "c")
		r.stop()
		time.Sleep(time.Hour) // nobody listens for the hub meanwhile
		r.start()
		r.serves("after an hour without the agent", "c")
		r.index.read.Store(0)
		r.index.fails.Store(2)
		time.Sleep(window / 2)
		r.serves("after the window", "b")
		if r.index.read.Load() == 0 {
			t.Error("the boot servers do not know of the roll-back")
		}
		time.Sleep(window)
		synctest.Wait()
		if n := r.index.read.Load(); n != 3 {
			t.Errorf("the boot servers were told %d times, and could not take it twice", n)
		}
		if r.document(4, "c") {
			t.Error("what was rolled back is tried again")
		}
		r.serves("the same again", "b")

		r.document(5, "d")
		for range trialSteps { // which is never up for long
			r.stop()
			r.start()
		}
		r.serves("after many starts", "b")
		r.stop()
	})
}
