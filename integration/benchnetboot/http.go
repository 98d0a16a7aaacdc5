package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rackboot/integration/benchreport"
)

// writeFile makes the boot file. It is not sparse: zeros that are not on disk cost a
// server less than a file does.
func writeFile(dir, name string, size int64) error {
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 31)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // servers that drop their rights read it
	if err != nil {
		return err
	}
	for left := size; left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	return errors.Join(err, f.Close())
}

func httpServers(secure bool, size int64) []entry {
	port := "80"
	if secure {
		port = "443"
	}
	files := func(dir string) error {
		if err := errors.Join(writeFile(dir, fileName, size), writeFile(dir, smallName, smallSize)); err != nil || !secure {
			return err
		}
		return writePair(dir)
	}
	return []entry{
		{benchreport.Ours, "ss", func(dir string) (*exec.Cmd, error) {
			if err := files(dir); err != nil {
				return nil, err
			}
			return self(job{What: serveHTTP, Dir: dir, TLS: secure})
		}, listens("-t sport = :" + port)},
		{"nginx", "nginx", func(dir string) (*exec.Cmd, error) {
			if err := files(dir); err != nil {
				return nil, err
			}
			return nginx(dir, port, secure)
		}, listens("-t sport = :" + port)},
	}
}

// nginx serves with sendfile, which is what it is known for.
func nginx(dir, port string, secure bool) (*exec.Cmd, error) {
	more := ""
	if secure {
		port += " ssl"
		more = fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %s; ssl_protocols TLSv1.2 TLSv1.3;", filepath.Join(dir, certFile), filepath.Join(dir, keyFile))
	}
	config := fmt.Sprintf(`user root;
worker_processes 2;
daemon off;
pid %[1]s/nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	tcp_nodelay on;
	keepalive_requests 1000000;
	open_file_cache max=100;
	ssl_session_cache off; ssl_session_tickets off;
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	server { listen %[2]s; root %[1]s; rewrite ^/b/bench/(.*)$ /$1 break; %[3]s }
}
`, dir, port, more)
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return exec.Command("nginx", "-e", "stderr", "-c", name), nil //nolint:noctx // it is ended by its contestant
}

// measureHTTP has all clients fetch the file at once, on a connection each.
func measureHTTP(ctx context.Context, p plan, r *benchreport.Report) error {
	return errors.Join(p.http(ctx, r, false), p.http(ctx, r, true))
}

func (p plan) http(ctx context.Context, r *benchreport.Report, secure bool) (err error) {
	what := fmt.Sprintf("HTTP, %d clients × %d MiB", p.clients, p.size>>20)
	if secure {
		what = "HTTPS" + strings.TrimPrefix(what, "HTTP")
	}
	in, err := entered(ctx, r, what, httpServers(secure, p.size))
	defer func() { err = errors.Join(err, leaveAll(in)) }()
	if err != nil {
		return err
	}
	rates := make(map[*contestant][]float64)
	cpu := make(map[*contestant]time.Duration)
	for round := range p.rounds {
		for _, c := range benchreport.Rotated(in, round) {
			before, err := c.used()
			if err != nil {
				return err
			}
			took, err := c.fetch(ctx, job{What: fetchHTTP, Clients: p.clients, Size: p.size, TLS: secure})
			if err != nil {
				return err
			}
			after, err := c.used()
			if err != nil {
				return err
			}
			rates[c] = append(rates[c], float64(p.clients)*float64(p.size)/took.Seconds()/1e6)
			cpu[c] += after.CPU - before.CPU
		}
	}
	group := make([]benchreport.Figure, 0, 2*len(in))
	for _, c := range in {
		u, err := c.used()
		if err != nil {
			return err
		}
		gb := float64(p.rounds) * float64(p.clients) * float64(p.size) / 1e9
		group = append(group,
			benchreport.Figure{What: what, Subject: c.name, Value: benchreport.Median(rates[c]), Unit: "MB/s", Detail: u.String()},
			benchreport.Figure{What: what + ": server's CPU", Subject: c.name, Value: float64(cpu[c].Milliseconds()) / gb, Unit: "ms per GB"})
	}
	r.Add(group...)
	return nil
}

// fetchHTTP fetches for all clients at once.
func (j job) fetchHTTP() (told, error) {
	begun := time.Now()
	errs := make([]error, j.Clients)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = j.fetchOne() })
	}
	group.Wait()
	return told{Took: time.Since(begun), Requests: j.Clients}, errors.Join(errs...)
}

func (j job) fetchOne() error {
	port := "80"
	if j.TLS {
		port = "443"
	}
	conn, err := net.DialTimeout("tcp4", net.JoinHostPort(serverAddress, port), time.Minute) //nolint:noctx // bounded
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return err
	}
	if j.TLS {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the bench's own server
	}
	if _, err := io.WriteString(conn, "GET /b/bench/"+fileName+" HTTP/1.1\r\nHost: "+serverAddress+"\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	status, err := in.ReadString('\n')
	if err != nil || !strings.Contains(status, " 200 ") {
		return fmt.Errorf("status %q: %w", status, err)
	}
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			return err
		}
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{in}, make([]byte, 64<<10))
	if err == nil && n != j.Size {
		err = fmt.Errorf("%d bytes of %d", n, j.Size)
	}
	return err
}
