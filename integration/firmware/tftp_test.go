package firmware

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/netboot/tftp"
	"rackboot/protocol"
)

const (
	childTFTP = "tftp"
	folderVar = "RACKBOOT_TEST_FOLDER"

	tftpAddress = "10.7.0.1"
	tftpAlias   = "10.7.0.2" // of the same interface, as VLANs with aliases have it
	tftpClient  = "10.7.0.50"
)

// folder serves a folder to everybody.
type folder string

func (f folder) Open(remote netip.Addr, _, name string) (*netboot.File, error) {
	return f.OpenFor(remote, name)
}

func (f folder) OpenFor(_ netip.Addr, name string) (*netboot.File, error) {
	file, err := os.Open(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file: %w", err)
	}
	st, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &netboot.File{ReadSeekCloser: file, Size: st.Size()}, nil
}

// printed tells what was fetched on the standard output.
type printed struct{}

func (printed) Record(e netboot.Event) { fmt.Printf("fetched %s\n", e.File) }

// serveTFTP is a server inside a namespace, until it is asked to end.
func serveTFTP() error {
	s, err := tftp.New(tftp.Config{Segment: "rack1", Interface: "boot0", Files: folder(os.Getenv(folderVar)), Evidence: printed{}})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}
	return s.Run(ctx)
}

// TestTFTPClients fetches files with clients that others have written.
func TestTFTPClients(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s := &site{dir: t.TempDir(), started: time.Now()}
	var server, client *netns.Namespace
	for name, ns := range map[string]**netns.Namespace{"tftp-server": &server, "tftp-client": &client} {
		var err error
		if *ns, err = netns.New(ctx, name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.leave(t, *ns) })
	}
	if err := errors.Join(
		netns.Cable(ctx, netns.Port{Namespace: server, Name: "boot0", Address: tftpAddress + "/24"}, netns.Port{Namespace: client, Name: "eth0", Address: tftpClient + "/24"}),
		server.Run(ctx, "ip address add "+tftpAlias+"/24 dev boot0"),
	); err != nil {
		t.Fatal(err)
	}

	files := map[string][]byte{"big.efi": make([]byte, 5_000_001), "block.efi": make([]byte, 2*1468), "empty": {}, "grub/grub.cfg": []byte("set timeout=0\n")}
	random := rand.NewChaCha8([32]byte{7})
	for name, b := range files {
		if len(b) > 100 {
			_, _ = random.Read(b)
		}
		s.write(t, filepath.Join("served", name), string(b))
	}
	t.Setenv(childVar, childTFTP)
	t.Setenv(folderVar, s.path("served"))
	s.start(t, server, "tftp", false, os.Args[0])
	s.until(ctx, t, 30*time.Second, "a TFTP server", func(context.Context) (bool, error) {
		return strings.Contains(s.read("tftp.out"), "ready"), s.alive()
	})

	atftp := func(options ...string) func(host, name, to string) []string {
		return func(host, name, to string) []string {
			line := []string{"atftp", "-g", "-r", name, "-l", to}
			for _, o := range options {
				line = append(line, "--option", o)
			}
			return append(line, host, "69")
		}
	}
	hpa := func(mode string) func(host, name, to string) []string {
		return func(host, name, to string) []string {
			return []string{"tftp", "-4", "-m", mode, host, "-c", "get", name, to}
		}
	}
	for _, row := range []struct {
		name    string
		command func(host, name, to string) []string
		file    string
		missing bool
	}{
		{"atftp, plain", atftp(), "big.efi", false},
		{"atftp, blksize and tsize", atftp("blksize 1428", "tsize 0"), "big.efi", false},
		{"atftp, a window", atftp("blksize 1468", "windowsize 16"), "big.efi", false},
		{"atftp, a window and a file of whole blocks", atftp("blksize 1468", "windowsize 4"), "block.efi", false},
		{"atftp, a block larger than a frame", atftp("blksize 65464"), "big.efi", false},
		{"atftp, timeout", atftp("timeout 3"), "grub/grub.cfg", false},
		{"atftp, empty", atftp("tsize 0"), "empty", false},
		{"atftp, missing", atftp(), "nope.efi", true},
		{"tftp-hpa", hpa("binary"), "big.efi", false},
		{"tftp-hpa, whole blocks", hpa("binary"), "block.efi", false},
		{"tftp-hpa, leading slash", hpa("binary"), "/grub/grub.cfg", false},
		{"tftp-hpa, missing", hpa("binary"), "nope.efi", true},
		{"tftp-hpa, netascii is refused", hpa("netascii"), "grub/grub.cfg", true},
	} {
		for _, host := range []string{tftpAddress, tftpAlias} {
			t.Run(row.name+" from "+host, func(t *testing.T) {
				to := filepath.Join(t.TempDir(), "got")
				line := row.command(host, row.file, to)
				cmd := exec.CommandContext(ctx, line[0], line[1:]...)
				var said bytes.Buffer
				cmd.Stdout, cmd.Stderr = &said, &said
				if err := client.Start(cmd); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				failed := cmd.Wait() // not all clients say by it whether they failed
				got, err := os.ReadFile(to)
				want := files[strings.TrimPrefix(row.file, "/")]
				switch {
				case row.missing && len(got) > 0:
					t.Errorf("%d bytes of a file that is not there", len(got))
				case !row.missing && (err != nil || failed != nil || !bytes.Equal(got, want)):
					t.Errorf("%d bytes of %d, %v, %v: %s", len(got), len(want), err, failed, said.String())
				case row.missing && time.Since(begin) > 3*time.Second:
					t.Errorf("refused after %s: %s", time.Since(begin), said.String())
				}
			})
		}
	}

	t.Run("not on another interface", func(t *testing.T) {
		var conn *net.UDPConn
		if err := server.Do(func() (err error) {
			conn, err = net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tftp.Port})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("\x00\x01empty\x00octet\x00")); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := conn.Read(make([]byte, 600)); err == nil { // refused by the kernel, or silence
			t.Errorf("a server of boot0 answers %d bytes over lo", n)
		}
	})
}
