package mirror_test

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"rackboot/integration/memnet"
	"rackboot/netboot/mirror"
)

const bubbleBase = "http://origin.example/pub"

// bench is a mirror and its origin in a bubble, where waiting takes no time.
type bench struct {
	*origin
	t        *testing.T
	cfg      mirror.Config
	listener *memnet.Listener
	m        *mirror.Mirror
	fsys     fs.FS
}

// bubble runs a test with the origin at bubbleBase.
func bubble(t *testing.T, cfg mirror.Config, f func(t *testing.T, b *bench)) {
	t.Helper()
	cfg.Dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{origin: newOrigin(), t: t, cfg: cfg}
		b.up()
		defer func() { _ = b.listener.Close() }()
		b.cfg.Bases = append(b.cfg.Bases, mirror.Base{URL: bubbleBase})
		b.cfg.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return b.listener.Dial(ctx) }
		b.start()
		defer func() { _ = b.m.Close() }()
		f(t, b)
	})
}

// up starts the origin's server.
func (b *bench) up() {
	b.listener = memnet.Listen("origin")
	go func(l net.Listener) { _ = http.Serve(l, b.origin) }(b.listener) // it ends with the listener
}

// down ends the origin's server and its connections.
func (b *bench) down() {
	b.t.Helper()
	if err := b.listener.Close(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) start() {
	b.t.Helper()
	var err error
	if b.m, err = mirror.New(b.cfg); err != nil {
		b.t.Fatal(err)
	}
	b.fsys = tree(b.t, b.m, bubbleBase)
}

// restart is a new process with the same folder.
func (b *bench) restart() {
	b.t.Helper()
	if err := b.m.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.start()
}

func (b *bench) want(name, content string) {
	b.t.Helper()
	want(b.t, b.fsys, name, content)
	synctest.Wait() // what came is in the cache
}

// asks compares what the origin was asked since the last time.
func (b *bench) asks(want ...string) {
	b.t.Helper()
	got := b.requests()
	if len(got) != len(want) {
		b.t.Errorf("asked %q, want %q", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			b.t.Errorf("asked %q, want %q", got, want)
		}
	}
}
