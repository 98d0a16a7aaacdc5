package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rackboot/integration/benchreport"
)

const (
	startTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
)

// server is one that takes part.
type server struct {
	name    string
	address string
	cmd     *exec.Cmd
	ended   chan struct{}
	said    strings.Builder
}

// enter starts a server, which is ready when it takes a connection.
func enter(ctx context.Context, name, address string, cmd *exec.Cmd) (*server, error) {
	s := &server{name: name, address: address, cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &s.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // nobody asks how
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp4", address)
		if err == nil {
			return s, c.Close()
		}
		select {
		case <-s.ended:
			return nil, fmt.Errorf("%s has ended: %s", name, strings.TrimSpace(s.said.String()))
		case <-ctx.Done():
			s.leave()
			return nil, fmt.Errorf("%s is not ready: %w", name, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// leave ends the server.
func (s *server) leave() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // its own group
		<-s.ended
	}
}

// fetch has a client process fetch from the server.
func (s *server) fetch(ctx context.Context, j job) (o outcome, err error) {
	j.What, j.Address = fetchFiles, s.address
	cmd, err := self(j)
	if err != nil {
		return o, err
	}
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return o, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return o, fmt.Errorf("%s: %w: %s", s.name, err, strings.TrimSpace(said.String()))
	}
	return o, json.Unmarshal([]byte(out.String()), &o)
}

// free is an address that nobody listens on now.
func free() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// nginx serves the extracted files with sendfile, which is what it is known for.
func nginx(dir, address string) (*exec.Cmd, error) {
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n"
	}
	config := user + fmt.Sprintf(`worker_processes 2;
daemon off;
pid %[1]s/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 1000000;
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	server { listen %[2]s; location /b/bench/ { alias %[1]s/%[3]s/; } }
}
`, dir, address, treeName)
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return exec.Command("nginx", "-e", "stderr", "-c", name), nil //nolint:noctx // it is ended by its server
}

// entry is a server that may take part.
type entry struct {
	name    string
	program string // that must be installed; empty for this one
	command func(dir, address string) (*exec.Cmd, error)
}

// entries are those that serve files: the image in place, and the extracted files by the
// same server and by nginx.
func entries() []entry {
	return []entry{
		{benchreport.Ours, "", func(dir, address string) (*exec.Cmd, error) {
			return self(job{What: serveImage, Dir: dir, Address: address})
		}},
		{benchreport.Ours + ", extracted", "", func(dir, address string) (*exec.Cmd, error) {
			return self(job{What: serveTree, Dir: dir, Address: address})
		}},
		{"nginx, extracted", "nginx", nginx},
	}
}

// servers starts all; one that is not installed is a figure.
func servers(ctx context.Context, dir string, r *benchreport.Report) (in []*server, err error) {
	for _, one := range entries() {
		if _, missing := exec.LookPath(one.program); missing != nil && one.program != "" {
			r.Add(benchreport.Figure{What: "files", Subject: one.name, Missing: one.program + " is not installed"})
			continue
		}
		address, err := free()
		if err != nil {
			return in, err
		}
		cmd, err := one.command(dir, address)
		if err != nil {
			return in, err
		}
		s, err := enter(ctx, one.name, address, cmd)
		if err != nil {
			return in, err
		}
		in = append(in, s)
	}
	return in, nil
}

// used sums over the server's process and its children.
func (s *server) used() (u benchreport.Usage, err error) {
	pid := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return u, err
	}
	for _, child := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		id, err := strconv.Atoi(child)
		if err != nil {
			return u, err
		}
		if err := u.Add(id); err != nil {
			return u, err
		}
	}
	return u, nil
}
