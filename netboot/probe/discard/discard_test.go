package discard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPermitRule(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "permit.go", "permitRule").HoldOne(t, [][]string{yn, yn, {tokenNone, tokenOther, tokenSame}, yn}, func(in []string) string {
		return permitRule(in[0] == "yes", in[1] == "yes", in[2], in[3] == "yes")
	})
}

func TestPermitted(t *testing.T) {
	const base = "http://10.7.0.1/b/tok/"
	gone := errors.New("404 Not Found")
	for _, row := range []struct {
		name, all, token, base string
		first                  bool
		said                   string
		err                    error
		asked, ok              bool
	}{
		{"a decommission", "all", "tok", base, true, "all\n", nil, true, true},
		{"with a URL of IPv6", "all", "tok", "https://[2001:db8::1]:8443/b/tok/", true, "all", nil, true, true},
		{"as a command", "all", "tok", base, false, "all", nil, false, false},
		{"without the argument", "", "tok", base, true, "all", nil, false, false},
		{"with one disk", "sda", "tok", base, true, "all", nil, false, false},
		{"without a token", "all", "", base, true, "all", nil, false, false},
		{"without a URL", "all", "tok", "", true, "all", nil, false, false},
		{"with a URL that has no token", "all", "b", "http://10.7.0.1/b/", true, "all", nil, false, false},
		{"with the token of another boot", "all", "old", base, true, "all", nil, false, false},
		{"with a folder below the boot's URL", "all", "tok/x", base + "x/", true, "all", nil, false, false},
		{"in a boot of something else", "all", "tok", base, true, "<html>", nil, true, false},
		{"with the command line of a boot that has ended", "all", "tok", base, true, "", gone, true, false},
	} {
		asked := false
		err := Permitted(row.first, map[string]string{Argument: row.all, ArgumentToken: row.token}, row.base, func(file string) (string, error) {
			asked = asked || file == Permit
			return row.said, row.err
		})
		if (err == nil) != row.ok || asked != row.asked || err != nil && protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: asked %v, %v", row.name, asked, err)
		}
	}
}

func TestDiskRule(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "disk.go", "diskRule").HoldOne(t, [][]string{{kindNone, kindDrive, kindArea, kindDisk}, yn, yn, yn, yn}, func(in []string) string {
		return diskRule(in[0], in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "yes")
	})
}

func TestFind(t *testing.T) {
	root := fstest.MapFS{}
	add := func(name string, files map[string]string) {
		for f, text := range files {
			root["sys/block/"+name+"/"+f] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	const disk, size = "device/model", "size"
	add("sda", map[string]string{disk: "x", size: "2048", "removable": "0", "ro": "0", "hidden": "0"})
	add("sdb", map[string]string{disk: "x", size: "2048", "removable": "1"})
	add("sdc", map[string]string{disk: "x", size: "2048", "ro": "1"})
	add("sdd", map[string]string{disk: "x", size: "0"})
	add("nvme0c0n1", map[string]string{disk: "x", size: "8", "hidden": "1"})
	add("nvme0n1", map[string]string{disk: "x", size: "8"})
	add("mmcblk0", map[string]string{disk: "x", size: "8"})
	add("mmcblk0boot0", map[string]string{disk: "x", size: "8", "ro": "1"})
	add("sr0", map[string]string{disk: "x", size: "8"})
	add("loop0", map[string]string{size: "8"})
	add("dm-0", map[string]string{size: "8"})
	got, err := Find(root)
	want := []Disk{
		{Name: "mmcblk0", Bytes: 4096},
		{Name: "mmcblk0boot0", Bytes: 4096, Skip: "a boot area"},
		{Name: "nvme0n1", Bytes: 4096},
		{Name: "sda", Bytes: 1 << 20},
		{Name: "sdb", Bytes: 1 << 20, Skip: "removable"},
		{Name: "sdc", Bytes: 1 << 20, Fail: "write-protected"},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	if _, err := Find(fstest.MapFS{}); err == nil {
		t.Error("no /sys is no error")
	}
}

func TestEraseRule(t *testing.T) {
	doctable.Of(t, "erase.go", "eraseRule").HoldOne(t, [][]string{{string(MethodDiscard), string(MethodZero)}, doctable.YesNo()}, func(in []string) string {
		return eraseRule(Method(in[0]), in[1] == "yes")
	})
}

func TestParseMethod(t *testing.T) {
	for s, want := range map[string]Method{"": MethodDiscard, "discard": MethodDiscard, "zero": MethodZero, "burn": ""} {
		if m, err := ParseMethod(s); m != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", s, m, err)
		}
	}
}

// file is a regular file in place of a disk.
type file struct {
	*os.File
	trim     error // what Discard says
	zero     error
	lies     bool // Zero does nothing
	trimmed  *atomic.Int64
	zeroed   *atomic.Int64
	closeErr error
}

func (f file) Discard(_, length int64) error {
	if f.trim == nil {
		f.trimmed.Add(length)
	}
	return f.trim
}

func (f file) Zero(offset, length int64) error {
	if f.zero != nil || f.lies {
		return f.zero
	}
	f.zeroed.Add(length)
	_, err := f.WriteAt(make([]byte, length), offset)
	return err
}

func (f file) Close() error { return errors.Join(f.File.Close(), f.closeErr) }

func TestAll(t *testing.T) {
	const size = 2*ends + 3<<20
	dir := t.TempDir()
	content := strings.Repeat("secret  ", size/8)
	broken := errors.New("input/output error")
	for _, row := range []struct {
		name            string
		f               file
		m               Method
		open            error
		disk            Disk
		done, wrong     string
		trimmed, zeroed int64
	}{
		{"a drive that discards", file{}, MethodDiscard, nil, Disk{}, "discarded", "", size, 2 * ends},
		{"one that cannot", file{trim: errors.ErrUnsupported}, MethodDiscard, nil, Disk{}, "zeroed", "", 0, size + 2*ends},
		{"zeros where that was asked for", file{}, MethodZero, nil, Disk{}, "zeroed", "", 0, size + 2*ends},
		{"a drive that fails to discard", file{trim: broken}, MethodDiscard, nil, Disk{}, "", "discard: input/output error", 0, 0},
		{"a drive that fails to write", file{zero: broken}, MethodDiscard, nil, Disk{}, "", "input/output error", size, 0},
		{"a drive that writes nothing", file{lies: true}, MethodDiscard, nil, Disk{}, "", "it is not zero", size, 0},
		{"a late error", file{closeErr: broken}, MethodDiscard, nil, Disk{}, "discarded", "input/output error", size, 2 * ends},
		{"one in use", file{}, MethodDiscard, errors.New("device or resource busy"), Disk{}, "", "busy", 0, 0},
		{"a removable one", file{}, MethodDiscard, nil, Disk{Skip: "removable"}, "skipped, removable", "", 0, 0},
		{"a locked one", file{}, MethodDiscard, nil, Disk{Fail: "write-protected"}, "", "write-protected", 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := filepath.Join(dir, "disk")
			if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			row.f.trimmed, row.f.zeroed = &atomic.Int64{}, &atomic.Int64{}
			row.disk.Name, row.disk.Bytes = "sda", size
			got := All(t.Context(), []Disk{row.disk}, row.m, func(string) (Device, error) {
				if row.open != nil {
					return nil, row.open
				}
				f, err := os.OpenFile(p, os.O_RDWR, 0)
				row.f.File = f
				return row.f, err
			}, slog.New(slog.DiscardHandler))[0]
			if got.Done != row.done && row.wrong == "" || (got.Err != nil) != (row.wrong != "") || got.Err != nil && !strings.Contains(got.Err.Error(), row.wrong) {
				t.Errorf("%q, %v", got.Done, got.Err)
			}
			if row.f.trimmed.Load() != row.trimmed || row.f.zeroed.Load() != row.zeroed {
				t.Errorf("discarded %d bytes, zeroed %d", row.f.trimmed.Load(), row.f.zeroed.Load())
			}
			left, err := os.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			defer left.Close()
			if err := zeros(left, 0, size); row.done == "zeroed" && err != nil {
				t.Errorf("something is left: %v", err)
			}
		})
	}
}

// A small disk is zeroed once from end to end, and an ended context stops before the next
// step.
func TestErase(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	d := file{File: f, trimmed: &atomic.Int64{}, zeroed: &atomic.Int64{}}
	if done, err := erase(t.Context(), d, 6, MethodDiscard); done != "discarded" || err != nil {
		t.Errorf("%q, %v", done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := erase(ctx, d, 6, MethodDiscard); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := zeros(d, 0, 7); !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestReport(t *testing.T) {
	good, bad := Disk{Name: "sda", Bytes: 480e9}, Disk{Name: "sdb", Bytes: 1e9}
	for _, row := range []struct {
		name    string
		results []Result
		state   protocol.ProbeState
		message string
	}{
		{"all", []Result{{good, "discarded", nil}, {bad, "zeroed", nil}}, protocol.ProbeBooted, "sda (480000 MB) discarded; sdb (1000 MB) zeroed"},
		{"with one that is left alone", []Result{{good, "discarded", nil}, {Disk{Name: "sdb", Bytes: 1e9, Skip: "removable"}, "skipped, removable", nil}}, protocol.ProbeBooted, "sda (480000 MB) discarded; sdb (1000 MB) skipped, removable"},
		{"one that failed", []Result{{good, "discarded", nil}, {bad, "", errors.New("busy\x1b")}}, protocol.ProbeFailed, "not discarded: sdb (1000 MB) busy ; sda (480000 MB) discarded"},
		{"no disk", nil, protocol.ProbeFailed, "no disk was found to discard"},
		{"only one that is left alone", []Result{{Disk{Name: "sdb", Bytes: 1e9, Skip: "removable"}, "skipped, removable", nil}}, protocol.ProbeFailed, "no disk was found to discard; sdb (1000 MB) skipped, removable"},
	} {
		got := Report(row.results)
		if got.State != row.state || got.Message != row.message {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
	var many []Result
	for range 200 {
		many = append(many, Result{good, "discarded", nil})
	}
	if r := Report(many); len(r.Validate()) > 0 || len(r.Message) > protocol.MaxProbeMessage || !strings.HasSuffix(r.Message, " ...") {
		t.Errorf("%+v", r)
	}
}
