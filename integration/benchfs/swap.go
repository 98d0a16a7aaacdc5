package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/integration/benchreport"
	"rackboot/netboot"
	"rackboot/netboot/fsview"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
)

const (
	swapServers = 16
	swapReaders = 16 // a quarter of two files of one view, the others by HTTP
	swapFolders = 4  // generations on disk, whose files are opened anew each time
	swapKernel  = 128 << 10
)

// swaps is views that are exchanged while they are read.
type swaps struct {
	dir   string
	views fsview.Set

	swapped, files, pairs, torn atomic.Int64
}

// kernelOf is the content of a folder's file: one number all over.
func kernelOf(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, swapKernel) }

func (s *swaps) write() error {
	for n := range swapFolders {
		if err := put(filepath.Join(s.dir, strconv.Itoa(n), "boot", "kernel"), kernelOf(n), swapKernel); err != nil {
			return err
		}
	}
	return nil
}

// swap gives a server its next generation: a folder on disk, and what was rendered to it.
func (s *swaps) swap(server, generation int) error {
	folder := generation % swapFolders
	disk, err := fsview.Disk(filepath.Join(s.dir, strconv.Itoa(folder)))
	if err != nil {
		return err
	}
	rendered, err := fsview.Memory{"boot/seed": bytes.Repeat([]byte{byte('a' + folder)}, 2048)}.FS(time.Unix(int64(generation), 0))
	if err != nil {
		return err
	}
	mount := fsview.Mount{FS: disk, Origin: "folder"}
	if c, ok := disk.(io.Closer); ok {
		mount.Close = c.Close
	}
	v, err := fsview.New([]fsview.Mount{mount, {FS: rendered, Origin: "rendered"}})
	if err != nil {
		return err
	}
	s.views.Swap(strconv.Itoa(server), v)
	s.swapped.Add(1)
	return nil
}

// Open implements netboot.Files: the token is the server.
func (s *swaps) Open(_ netip.Addr, token, name string) (*netboot.File, error) {
	v, ok := s.views.Get(token)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such server")
	}
	defer v.Release()
	return treeFiles{v}.Open(netip.Addr{}, token, name)
}

// Report refuses nothing.
func (*swaps) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error { return nil }

// whole says whether content is of one generation and complete.
func whole(content []byte, size int) bool {
	return size > 0 && len(content) == size && bytes.Count(content, content[:1]) == size
}

// pair reads two files of one view: they are of one generation, whatever is swapped
// between them.
func (s *swaps) pair(server int) error {
	v, ok := s.views.Get(strconv.Itoa(server))
	if !ok {
		return errors.New("a server has no view")
	}
	defer v.Release()
	seed, err := fs.ReadFile(v, "boot/seed")
	if err != nil {
		return err
	}
	kernel, err := fs.ReadFile(v, "boot/kernel")
	if err != nil {
		return err
	}
	if !whole(seed, 2048) || !whole(kernel, swapKernel) || seed[0] != kernel[0] {
		s.torn.Add(1)
	}
	s.pairs.Add(1)
	return nil
}

// file reads one file by HTTP: all of it is of one generation.
func (s *swaps) file(ctx context.Context, client *http.Client, address string, server int) error {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/b/%d/boot/kernel", address, server), nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(ask)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !whole(content, swapKernel) {
		s.torn.Add(1)
	}
	s.files.Add(1)
	return nil
}

// run swaps and reads for so long.
func (s *swaps) run(ctx context.Context, span time.Duration) (err error) {
	if err := s.write(); err != nil {
		return err
	}
	for n := range swapServers {
		if err := s.swap(n, n); err != nil {
			return err
		}
	}
	h, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: s, Evidence: nobody{}})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- h.Run(serving) }()
	transport := &http.Transport{MaxIdleConnsPerHost: swapReaders}
	client := &http.Client{Transport: transport}
	var over atomic.Bool
	timer := time.AfterFunc(span, func() { over.Store(true) })
	defer timer.Stop()
	errs := make([]error, swapReaders+1)
	var all sync.WaitGroup
	work := func(n int, do func(turn int) error) {
		all.Go(func() {
			for turn := n; !over.Load() && errs[n] == nil; turn++ {
				errs[n] = errors.Join(ctx.Err(), do(turn))
			}
		})
	}
	for n := range swapReaders {
		if n%4 == 0 {
			work(n, func(turn int) error { return s.pair(turn % swapServers) })
		} else {
			work(n, func(turn int) error { return s.file(ctx, client, h.Addr().String(), turn%swapServers) })
		}
	}
	work(swapReaders, func(turn int) error { return s.swap(turn%swapServers, turn/swapServers) })
	all.Wait()
	transport.CloseIdleConnections()
	stop()
	err = errors.Join(append(errs, <-served)...)
	for n := range swapServers {
		s.views.Drop(strconv.Itoa(n))
	}
	return err
}

// measureSwap exchanges the files of servers as fast as it can while others read them. A
// torn read is a failure.
func measureSwap(ctx context.Context, p plan, r *benchreport.Report) (err error) {
	dir, err := os.MkdirTemp("", "rackboot-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &swaps{dir: dir}
	if err := s.run(ctx, p.swaps); err != nil {
		return err
	}
	what, second := "swap under load", p.swaps.Seconds()
	r.Add(
		benchreport.Figure{What: what, Subject: benchreport.Ours, Value: float64(s.swapped.Load()) / second, Unit: "swaps/s"},
		benchreport.Figure{What: what, Subject: benchreport.Ours, Value: float64(s.pairs.Load()) / second, Unit: "pairs of files/s", Detail: "of one view"},
		benchreport.Figure{What: what, Subject: benchreport.Ours, Value: float64(s.files.Load()) / second, Unit: "files/s", Detail: "by HTTP, 128 KiB"},
		benchreport.Figure{What: what, Subject: benchreport.Ours, Value: float64(s.torn.Load()), Unit: "torn reads"},
	)
	if n := s.torn.Load(); n > 0 {
		return fmt.Errorf("%d torn reads", n)
	}
	return nil
}
