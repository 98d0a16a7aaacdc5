package fsview

import (
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"rackboot/protocol"
)

// generation is a view whose two files both say which it is, and whose mount notes what
// is read of it after it was closed.
type generation struct {
	fs.FS
	closed atomic.Int32
	late   *atomic.Int32
}

func (g *generation) Open(name string) (fs.File, error) {
	if g.closed.Load() > 0 {
		g.late.Add(1)
	}
	f, err := g.FS.Open(name)
	if c, ok := f.(Content); ok {
		return &watched{Content: c, g: g}, err
	}
	return f, err
}

func (g *generation) Close() error {
	g.closed.Add(1)
	return nil
}

type watched struct {
	Content
	g *generation
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	if w.g.closed.Load() > 0 {
		w.g.late.Add(1)
	}
	return w.Content.ReadAt(b, at)
}

// TestSwap: readers see one generation or another and never two, nothing is closed while
// somebody reads it, and in the end all is.
func TestSwap(t *testing.T) {
	defer goleak.VerifyNone(t)
	const rounds, readers = 100, 4
	var late atomic.Int32
	var all []*generation
	make1 := func(n int) *View {
		said := fmt.Sprint(n)
		g := &generation{FS: memory(t, map[string]string{"kernel": said, "boot/initrd": said}), late: &late}
		all = append(all, g)
		v, err := New([]Mount{{FS: g, Close: g.Close}, {Links: Links{"link": "boot"}}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var s Set
	s.Swap("one", make1(0))
	s.Swap("other", make1(0))
	var stop atomic.Bool
	var group sync.WaitGroup
	var reads atomic.Int64
	for range readers {
		group.Go(func() {
			for !stop.Load() {
				v, ok := s.Get("one")
				if !ok {
					t.Error("the server has no view")
					return
				}
				kernel, err := v.Open("kernel")
				if err != nil {
					t.Error(err)
				}
				initrd := text(t, v, "link/initrd")
				v.Release()
				b := make([]byte, len(initrd)) // the file keeps its view
				if _, err := kernel.(Content).ReadAt(b, 0); err != nil || string(b) != initrd {
					t.Errorf("kernel of %s with initrd of %s, %v", b, initrd, err)
				}
				kernel.Close()
				reads.Add(1)
			}
		})
	}
	for n := range rounds {
		s.Swap("one", make1(n+1))
		for before := reads.Load(); reads.Load() == before && !t.Failed(); {
			v, ok := s.Get("other") // others are not touched
			if !ok || text(t, v, "kernel") != "0" {
				t.Error("the other server's view changed")
			}
			v.Release()
		}
	}
	stop.Store(true)
	group.Wait()
	s.Drop("one")
	s.Drop("other")
	s.Drop("other")
	if _, ok := s.Get("one"); ok || len(s.Servers()) != 0 {
		t.Error("it was dropped")
	}
	for n, g := range all {
		if g.closed.Load() != 1 {
			t.Errorf("generation %d was closed %d times", n, g.closed.Load())
		}
	}
	if late.Load() > 0 {
		t.Errorf("%d reads of closed mounts", late.Load())
	}
}

// TestRelease: an open file keeps its view, a released view is gone.
func TestRelease(t *testing.T) {
	var late atomic.Int32
	g := &generation{FS: memory(t, map[string]string{"d/x": "1"}), late: &late}
	v, err := New([]Mount{{FS: g, Close: g.Close}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.Open("d/x")
	if err != nil {
		t.Fatal(err)
	}
	d, err := v.Open("d")
	if err != nil {
		t.Fatal(err)
	}
	if !v.Acquire() {
		t.Fatal("it is open")
	}
	v.Release()
	v.Release()
	if _, err := f.(Content).ReadAt(make([]byte, 1), 0); err != nil {
		t.Error(err)
	}
	if f.Close() != nil || f.Close() == nil {
		t.Error("the second Close has no error")
	}
	_, err = f.Read(make([]byte, 1))
	wantCode(t, err, protocol.CodeUnavailable)
	if g.closed.Load() != 0 {
		t.Error("closed with a directory open")
	}
	if list, err := d.(fs.ReadDirFile).ReadDir(-1); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	d.Close()
	if g.closed.Load() != 1 || v.Acquire() {
		t.Error("not closed")
	}
	_, err = v.Open("d/x")
	wantCode(t, err, protocol.CodeUnavailable)
	_, err = v.Stat("d/x")
	wantCode(t, err, protocol.CodeUnavailable)
	_, err = v.ReadDir(".")
	wantCode(t, err, protocol.CodeUnavailable)
	if g.closed.Load() != 1 {
		t.Error("closed again")
	}
}
