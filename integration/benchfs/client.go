package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	fetchTimeout = 5 * time.Minute
	readSize     = 256 << 10
)

// outcome is what a client says at its end.
type outcome struct {
	Took  time.Duration
	Bytes int64
}

// fetch fetches, and prints the outcome.
func (j job) fetch() error {
	o, err := j.run()
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(o))
}

// run fetches on connections that are kept, as installers do.
func (j job) run() (outcome, error) {
	var next, total atomic.Int64
	errs := make([]error, j.Conns)
	begun := time.Now()
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = j.fetchSome(&next, &total) })
	}
	group.Wait()
	return outcome{time.Since(begun), total.Load()}, errors.Join(errs...)
}

// fetchSome is one connection.
func (j job) fetchSome(next, total *atomic.Int64) error {
	conn, err := net.DialTimeout("tcp4", j.Address, time.Minute) //nolint:noctx // bounded
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(fetchTimeout)); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	buffer := make([]byte, readSize)
	for n := next.Add(1) - 1; n < int64(j.Requests); n = next.Add(1) - 1 {
		name := j.Names[n%int64(len(j.Names))]
		if _, err := io.WriteString(conn, "GET /b/bench/"+name+" HTTP/1.1\r\nHost: "+j.Address+"\r\n\r\n"); err != nil {
			return err
		}
		size, err := header(in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		to := io.Discard
		var got bytes.Buffer
		if j.Check {
			to = &got
		}
		read, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{io.LimitReader(in, size)}, buffer)
		if err == nil && read != size {
			err = io.ErrUnexpectedEOF
		}
		if err == nil && j.Check {
			var want []byte
			if want, err = expected(j.Dir, name); err == nil {
				err = same(name, got.Bytes(), want)
			}
		}
		if total.Add(read); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// header reads that of an answer, and returns the length of its body.
func header(in *bufio.Reader) (size int64, err error) {
	status, err := in.ReadString('\n')
	if err != nil || !strings.Contains(status, " 200 ") {
		return 0, fmt.Errorf("status %q: %w", strings.TrimSpace(status), err)
	}
	size = -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if line == "\r\n" {
			break
		}
		if k, v, _ := strings.Cut(line, ":"); strings.EqualFold(k, "Content-Length") {
			if size, err = strconv.ParseInt(strings.TrimSpace(v), 10, 64); err != nil {
				return 0, err
			}
		}
	}
	if size < 0 {
		return 0, errors.New("an answer without a length")
	}
	return size, nil
}
