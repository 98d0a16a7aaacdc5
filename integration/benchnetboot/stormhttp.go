package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// request is what firmware and installers send: EDK2's own header, without what it adds
// for a proxy.
func request(method, name string, kept bool) string {
	connection := "close"
	if kept {
		connection = "keep-alive"
	}
	return method + " /b/bench/" + name + " HTTP/1.1\r\nHost: " + serverAddress + "\r\nAccept: */*\r\nUser-Agent: UefiHttpBoot/1.0\r\nConnection: " + connection + "\r\n\r\n"
}

// client is one connection of a storm's clients.
type client struct {
	net.Conn
	in *bufio.Reader
}

// dial connects; with TLS by a full handshake each time.
func (j job) dial() (*client, error) {
	port := "80"
	if j.TLS {
		port = "443"
	}
	conn, err := net.DialTimeout("tcp4", net.JoinHostPort(serverAddress, port), time.Minute) //nolint:noctx // bounded
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return nil, err
	}
	if j.TLS {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true, SessionTicketsDisabled: true}) //nolint:gosec // the bench's own server
	}
	return &client{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

// get asks for a file, or by HEAD for its header, and reads the answer to its end.
func (c *client) get(method, name string, kept bool, size int64) error {
	if _, err := io.WriteString(c, request(method, name, kept)); err != nil {
		return err
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil || !strings.Contains(string(status), " 200 ") {
		return fmt.Errorf("status %q: %w", status, err)
	}
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
	}
	if method == "HEAD" {
		return nil
	}
	n, err := c.in.Discard(int(size))
	if err != nil {
		return fmt.Errorf("%d bytes of %d: %w", n, size, err)
	}
	return nil
}

// boot is what firmware does: HEAD, GET on the same connection, and then it closes.
func (j job) boot() error {
	c, err := j.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.get("HEAD", fileName, true, 0); err != nil {
		return err
	}
	return c.get("GET", fileName, false, j.Size)
}

// stormHTTP has all clients boot at once.
func (j job) stormHTTP() (told, error) {
	return j.together(func() (int, error) { return 1, j.boot() })
}

// packagesHTTP has each client fetch small files on one connection, as installers do, for
// a time.
func (j job) packagesHTTP() (told, error) {
	var over atomic.Bool
	time.AfterFunc(j.Period, func() { over.Store(true) })
	return j.together(func() (n int, err error) {
		c, err := j.dial()
		if err != nil {
			return 0, err
		}
		defer c.Close()
		for ; !over.Load(); n++ {
			if err := c.get("GET", smallName, true, smallSize); err != nil {
				return n, err
			}
		}
		return n, nil
	})
}

// handshakes has each client fetch a small file on a new connection, again and again, for
// a time.
func (j job) handshakes() (told, error) {
	begun := time.Now()
	return j.together(func() (n int, err error) {
		for ; time.Since(begun) < j.Period; n++ {
			c, err := j.dial()
			if err != nil {
				return n, err
			}
			if err := errors.Join(c.get("GET", smallName, false, smallSize), c.Close()); err != nil {
				return n, err
			}
		}
		return n, nil
	})
}

// together has all clients do the same at once.
func (j job) together(do func() (int, error)) (told, error) {
	begun := time.Now()
	errs, counts := make([]error, j.Clients), make([]int, j.Clients)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { counts[i], errs[i] = do() })
	}
	group.Wait()
	t := told{Took: time.Since(begun)}
	for _, n := range counts {
		t.Requests += n
	}
	return t, errors.Join(errs...)
}
