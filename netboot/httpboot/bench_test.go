package httpboot

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	// benchServe is set for a child process that only serves, so that its memory is
	// the server's alone: scheme and folder.
	benchServe   = "RACKBOOT_BENCH_SERVE"
	benchSize    = 60 << 20 // a UKI with an initrd
	benchClients = 200
)

func TestMain(m *testing.M) {
	if what := os.Getenv(benchServe); what != "" {
		if err := serveBench(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveBench prints its address and serves until standard input ends.
func serveBench(what string) error {
	scheme, dir, _ := strings.Cut(what, " ")
	cfg := Config{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Files: &dirFiles{dir: dir}, Evidence: &memEvidence{}, MaxClientConns: 2 * benchClients, MaxClientRequests: 2 * benchClients}
	if scheme == schemeHTTPS {
		cfg.Certificates = testPKI()
	}
	s, err := New(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println(s.Addr())
	return s.Run(ctx)
}

// benchServer serves inside this process.
func benchServer(b *testing.B, cfg Config) string {
	b.Helper()
	cfg.Listen, cfg.Evidence = netip.MustParseAddrPort("127.0.0.1:0"), &memEvidence{}
	s, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-done
	})
	return s.Addr().String()
}

// fetch gets the boot file on a connection of its own, as firmware does, and throws it
// away.
func fetch(addr, scheme string, size int64) error {
	return fetchPath(addr, scheme, "/b/"+token+"/"+bootName, size)
}

func fetchPath(addr, scheme, path string, size int64) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if scheme == schemeHTTPS {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 32<<10)
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			return err
		}
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{in}, make([]byte, 32<<10))
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes of %d", n, size)
	}
	return err
}

// benchmarkRack has 200 clients fetch a file of 60 MiB at the same time from a server
// in a process of its own, and reports what memory that took.
func benchmarkRack(b *testing.B, scheme string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bootName), make([]byte, benchSize), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$")
	cmd.Env, cmd.Stderr = append(os.Environ(), benchServe+"="+scheme+" "+dir), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		stdin.Close()
		_ = cmd.Wait()
	}()
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchClients * benchSize)
	for b.Loop() {
		var group sync.WaitGroup
		for range benchClients {
			group.Go(func() {
				if err := fetch(strings.TrimSpace(addr), scheme, benchSize); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	}
	b.ReportMetric(peakRSS(b, cmd.Process.Pid), "peak-RSS-MiB")
}

// peakRSS is the largest resident set that a process had, in MiB.
func peakRSS(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kib)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}

func BenchmarkHTTP(b *testing.B)  { benchmarkRack(b, schemeHTTP) }
func BenchmarkHTTPS(b *testing.B) { benchmarkRack(b, schemeHTTPS) }

// BenchmarkHandshake is what the choice of the certificate is about: client and server
// together, without a session to resume.
func BenchmarkHandshake(b *testing.B) {
	addr := benchServer(b, Config{Files: &dirFiles{}, Certificates: testPKI()})
	for name, client := range map[string]*tls.Config{
		"ecdsa":              {MaxVersion: tls.VersionTLS12, CipherSuites: ecdsaSuites},
		"rsa by ecdhe":       {MaxVersion: tls.VersionTLS12, CipherSuites: rsaSuites[:3]},
		"rsa key exchange":   {MaxVersion: tls.VersionTLS12, CipherSuites: rsaSuites[3:]},
		"ecdsa with TLS 1.3": {},
	} {
		client.RootCAs = testPKI().roots
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				conn, err := tls.Dial("tcp", addr, client)
				if err != nil {
					b.Fatal(err)
				}
				conn.Close()
			}
		})
	}
}
