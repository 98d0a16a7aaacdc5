package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// update rewrites the golden screens.
var update = flag.Bool("update", false, "update testdata/screens")

// screenColumns is how wide a screen of these tests is: what a terminal has that nobody made wider.
const screenColumns = 80

// terminalOf is a terminal of the kernel's, with what was written to it.
func terminalOf(t *testing.T) (file *os.File, text func() string) {
	t.Helper()
	file, _, _, text = typedAt(t)
	return file, text
}

// typedAt is a terminal of the kernel's at which somebody types and looks; text ends it.
func typedAt(t *testing.T) (file *os.File, keys func(string), seen *output, text func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	file, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(file.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: screenColumns}); err != nil {
		t.Fatal(err)
	}
	seen = &output{changed: make(chan struct{}, 1)}
	keys = func(text string) {
		if _, err := io.WriteString(master, text); err != nil {
			t.Error(err)
		}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(seen, master) // it ends with EIO when nobody has the terminal any more
	}()
	return file, keys, seen, func() string {
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		<-read
		if err := master.Close(); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(seen.text(), "\r\n", "\n")
	}
}

// screenSite has names as long as people give them.
const screenSite = `apiVersion: rackboot/v1
kind: Rack
metadata: {name: rack-17, labels: {zone: a}}
---
apiVersion: rackboot/v1
kind: Segment
metadata: {name: boot-17}
spec: {rackRef: {name: rack-17}, prefix: 10.7.0.0/24, address: 10.7.0.1, pool: {from: 10.7.0.100, to: 10.7.0.200}}
---
apiVersion: rackboot/v1
kind: BMC
metadata: {name: worker-17-3-bmc}
spec: {rackRef: {name: rack-17}, address: "http://127.0.0.1:8003", credentialsRef: "local:b1"}
---
apiVersion: rackboot/v1
kind: BMC
metadata: {name: worker-17-12-bmc}
spec: {rackRef: {name: rack-17}, address: "http://127.0.0.1:8012", credentialsRef: "local:b1"}
---
apiVersion: rackboot/v1
kind: Server
metadata: {name: worker-17-3, labels: {row: "7"}}
spec: {bmcRef: {name: worker-17-3-bmc}, segmentRef: {name: boot-17}, bootMAC: "52:54:00:00:00:03"}
---
apiVersion: rackboot/v1
kind: Server
metadata: {name: worker-17-12, labels: {row: "7"}}
spec: {bmcRef: {name: worker-17-12-bmc}, segmentRef: {name: boot-17}, bootMAC: "52:54:00:00:00:0c"}
---
apiVersion: rackboot/v1
kind: Claim
metadata: {name: cluster-a-worker-3}
spec:
  serverRef: {name: worker-17-3}
  power: On
  image: registry.example.com/platform/worker-os@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
`

// screenHub is a hub with such a site, all of which is five days old.
func screenHub(t *testing.T) (*apitest.Hub, func(string) string) {
	t.Helper()
	hub := apitest.New(t)
	getenv := configured(t, hub, apitest.Token)
	site := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(site, []byte(screenSite), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"apply", "-f", site}, {"hold", "worker-17-12", "--key", "cluster-a/worker-12", "--reason", "node is replaced, see the ticket of the operations team"}} {
		var out bytes.Buffer
		if code := Run(t.Context(), Config{Args: args, Out: &out, Err: &out, In: strings.NewReader(""), Getenv: getenv}); code != 0 {
			t.Fatalf("%v: %d\n%s", args, code, out.String())
		}
	}
	ago := func(d time.Duration) *time.Time { return new(time.Now().Add(-d)) }
	for _, kind := range resource.Kinds() {
		objs, err := hub.Client(t).Objects.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objs {
			stored, err := hub.Store.Objects.Get(kind, o.Head().Metadata.Name)
			if err != nil {
				t.Fatal(err)
			}
			stored.Head().Metadata.CreatedAt = ago(5*24*time.Hour + time.Hour)
			if c, ok := stored.(*resource.Claim); ok {
				c.Status.Server = "worker-17-3"
			}
			if err := hub.Store.Objects.Put(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
		}
	}
	now, since := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	hub.Fleet.SetServer("worker-17-3", resource.ServerStatus{
		Phase: resource.PhaseReserved, Claim: "cluster-a-worker-3", ReadAt: ago(30 * time.Minute),
		Conditions: []resource.ConditionState{{Code: resource.CondBMCUnreachable, Since: since, Message: "dial tcp 10.7.1.3:443: i/o timeout, for the 12th time since the BMC was last heard"}, {Code: resource.CondMethodMismatch, Since: since}},
		Report: &resource.ServerReport{Server: "worker-17-3", Observation: protocol.Observation{Power: protocol.PowerOn, ReadAt: now}, Attempt: &resource.AttemptReport{
			State: resource.AttemptFailed, Number: 12, Since: since, Intended: "UefiHttp", Observed: "Hdd", Reason: "firmware did not fetch the boot file before the deadline",
		}},
	})
	hub.Fleet.SetServer("worker-17-12", resource.ServerStatus{Phase: resource.PhaseError, ReadAt: ago(30 * time.Minute), Report: &resource.ServerReport{
		Server: "worker-17-12", Observation: protocol.Observation{Power: protocol.PowerOff, ReadAt: now}, Holds: []resource.HoldReport{{ID: "h1", Word: resource.HoldEnforced}},
	}})
	hub.Fleet.SetTraces("worker-17-3", []resource.Trace{{
		Server: "worker-17-3", Serial: 1, Number: 12, Intended: protocol.TargetUefiHTTP, Observed: protocol.TargetUefiHTTP, Purpose: resource.PurposeClaim, Began: since, Since: since.Add(11 * time.Minute),
		State: resource.AttemptFailed, Code: resource.AttemptFetchFailed, Reason: "firmware did not fetch the boot file before the deadline, after it had an address", Kept: []int{1},
		Rows: []resource.TraceRow{
			{Seq: 1, At: since, Source: protocol.TraceRedfish, What: "read back", Detail: "UefiHttp Once UEFI (Stored) at /redfish/v1/Systems/1"},
			{Seq: 2, At: since.Add(31 * time.Second), Source: protocol.TraceDHCP, What: "DISCOVER", Detail: "HTTPClient amd64 uefi HTTP, 10.7.0.100 -> offer, boot: first boot granted, file boot.efi"},
			{Seq: 3, At: since.Add(40 * time.Second), Source: protocol.TraceAttempt, What: "Provisioned", Detail: "sha256:f86783e0120c42b9ab4db61f86b550629fce6e1fd6ecbfd39596c99c28577822"},
		},
	}})
	hub.Fleet.SetClaim("cluster-a-worker-3", resource.ClaimStatus{Server: "worker-17-3", Phase: resource.PhaseReserved, Conditions: []resource.ConditionState{{Code: resource.CondMethodMismatch, Since: since}}})
	hub.Fleet.AddEvent("worker-17-3", resource.ConditionCode(resource.EventMismatch), "UefiHttp was ordered, and the firmware booted from its disk, by what it said")
	hub.Fleet.AddEvent("worker-17-12", resource.ConditionCode(resource.EventHoldEnforced), "by admin with key cluster-a/worker-12")
	return hub, getenv
}

// screens are the commands whose screens are kept.
func screens() map[string][]string {
	return map[string][]string{
		"get-servers":     {"get", "servers"},
		"get-claims":      {"get", "claims"},
		"get-holds":       {"get", "holds"},
		"get-bmcs":        {"get", "bmcs"},
		"get-all":         {"get", "all"},
		"get-labels":      {"get", "servers", "-L", "zone"},
		"describe-server": {"describe", "server", "worker-17-3"},
		"describe-hold":   {"describe", "holds"},
		"events":          {"events"},
		"whoami":          {"whoami"},
		"explain":         {"explain", "claim.spec.bootPolicy"},
		"config":          {"config", "get-contexts"},
		"trace":           {"trace", "worker-17-3"},
	}
}

var (
	port  = regexp.MustCompile(`https://127\.0\.0\.1:[0-9]+`)
	birth = regexp.MustCompile(`(?m)^Created:( +)[0-9TZ:-]+$`)
	sgr   = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// A screen of 80 columns has lines of 80 columns, and no terminal has to break one.
func TestScreensFit(t *testing.T) {
	_, getenv := screenHub(t)
	for name, args := range screens() {
		t.Run(name, func(t *testing.T) {
			file, text := terminalOf(t)
			var said bytes.Buffer
			code := Run(t.Context(), Config{Args: args, Out: file, Err: &said, In: strings.NewReader(""), Getenv: func(k string) string {
				if k == "NO_COLOR" {
					return "1"
				}
				return getenv(k)
			}})
			got := text()
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, said.String())
			}
			for line := range strings.SplitSeq(got, "\n") {
				if n := utf8.RuneCountInString(line); n > screenColumns {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if strings.Contains(got, "\x1b") {
				t.Error("there are colours, and NO_COLOR is set")
			}
			// What is another one in each run.
			got = birth.ReplaceAllString(port.ReplaceAllString(got, "https://127.0.0.1:45678"), "Created:${1}2026-11-20T09:00:00Z")
			path := filepath.Join("testdata", "screens", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || string(want) != got {
				t.Errorf("%v\n got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// States have colours on a terminal, and nothing else has.
func TestColours(t *testing.T) {
	_, getenv := screenHub(t)
	file, text := terminalOf(t)
	var said bytes.Buffer
	if code := Run(t.Context(), Config{Args: []string{"get", "servers"}, Out: file, Err: &said, In: strings.NewReader(""), Getenv: getenv}); code != 0 {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	got := text()
	for _, want := range []string{"\x1b[32mReserved\x1b[0m", "\x1b[31mError\x1b[0m", "\x1b[31mBMC"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%q", want, got)
		}
	}
	plain, err := os.ReadFile(filepath.Join("testdata", "screens", "get-servers.txt"))
	if err != nil || sgr.ReplaceAllString(got, "") != string(plain) {
		t.Errorf("%v: colours have changed the text\n%s", err, got)
	}
}

// What is waited for is one line that is written again, and no longer than the screen.
func TestWaitIsOneLine(t *testing.T) {
	_, getenv := screenHub(t)
	file, text := terminalOf(t)
	var out bytes.Buffer
	code := Run(t.Context(), Config{Args: []string{"wait", "server/worker-17-3", "--for", "phase=Available", "--timeout", "300ms"}, Out: &out, Err: file, In: strings.NewReader(""), Getenv: getenv})
	got := text()
	if code != protocol.CodeTimeout.ExitCode() {
		t.Fatalf("exit code %d: %s", code, got)
	}
	line, rest, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(line, "\rserver/worker-17-3: server worker-17-3 Reserved") || !strings.HasSuffix(line, "…\x1b[K") || !strings.HasPrefix(rest, "rackctl: wait: ") {
		t.Errorf("%q", got)
	}
	for part := range strings.SplitSeq(line, "\r") {
		if n := utf8.RuneCountInString(strings.TrimSuffix(part, "\x1b[K")); n >= screenColumns {
			t.Errorf("%d columns: %q", n, part)
		}
	}
}

// top takes the whole screen, does what keys say, and gives the screen back as it was.
func TestTopOnATerminal(t *testing.T) {
	_, getenv := screenHub(t)
	file, keys, seen, text := typedAt(t)
	before, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- Run(t.Context(), Config{Args: []string{"top"}, Out: file, Err: &said, In: file, Getenv: func(k string) string {
			if k == "TERM" {
				return "xterm-256color"
			}
			return getenv(k)
		}})
	}()
	seen.await(t, "worker-17-12")
	keys("\t")
	seen.await(t, "no agent")
	keys("\x03")
	if got := <-code; got != 0 {
		t.Errorf("exit code %d: %s", got, said.String())
	}
	after, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("%v: the terminal is otherwise than before", err)
	}
	got := text()
	on, off := strings.Index(got, "\x1b[?1049h"), strings.LastIndex(got, "\x1b[?1049l")
	if on < 0 || off < on || strings.Contains(got[off:], "worker") {
		t.Errorf("%q", got)
	}
	if !strings.Contains(got, "\x1b[31m") {
		t.Errorf("no colours in %q", got)
	}
}

// A dumb terminal is drawn nothing on, and told what to do.
func TestTopOnADumbTerminal(t *testing.T) {
	_, getenv := screenHub(t)
	for _, term := range []string{"", "dumb"} {
		file, text := terminalOf(t)
		var said bytes.Buffer
		code := Run(t.Context(), Config{Args: []string{"top"}, Out: file, Err: &said, In: file, Getenv: func(k string) string {
			if k == "TERM" {
				return term
			}
			return getenv(k)
		}})
		if got := text(); code != protocol.CodeInvalid.ExitCode() || got != "" || !strings.Contains(said.String(), "hint: set TERM") {
			t.Errorf("TERM %q: exit code %d, %q, %s", term, code, got, said.String())
		}
	}
}
