package launch

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rackboot/agent/installed"
	"rackboot/protocol/message"
)

// The test's own program is the agent that launchers start here; behave says what it does.
const behave = "RACKBOOT_TEST_AGENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(behave); how != "" {
		os.Exit(agent(how))
	}
	os.Exit(m.Run())
}

// agent is a program that a launcher starts. What it does depends on the place it was started from, as "packaged=exit 3,a=confirm".
func agent(how string) int {
	word, is, err := installed.Receive(os.Getenv)
	if err != nil || !is {
		fmt.Fprintln(os.Stderr, "not started by a launcher:", err)
		return 99
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Printf("%s runs with %s\n", word.Place, strings.Join(os.Args[1:], " "))
	files := installed.Files{Dir: word.Dir}
	for rule := range strings.SplitSeq(how, ",") {
		place, act, _ := strings.Cut(rule, "=")
		if place != string(word.Place) {
			continue
		}
		switch act {
		case "confirm": // and end well when asked
			if code := confirm(files, word); code != 0 {
				return code
			}
			fmt.Println("confirmed")
		case "deaf":
			signal.Ignore(syscall.SIGTERM)
			fmt.Println("deaf")
			select {}
		case "late": // confirms when it is told to end
			<-signals
			if word.Order == "" { // it was
				return 0
			}
			return confirm(files, word)
		case "wait":
		default:
			var code int
			_, _ = fmt.Sscanf(act, "exit %d", &code)
			return code
		}
	}
	sig := <-signals
	fmt.Println("heard", sig)
	if sig == syscall.SIGHUP {
		return 5
	}
	return 0
}

// confirm does what an agent does that the hub has answered.
func confirm(files installed.Files, word installed.Launched) int {
	r, err := files.Read()
	if err != nil || r.Trial == nil || r.Trial.Order != word.Order {
		return 98
	}
	r.Current, r.Digest, r.Trial, r.Last = r.Trial.Slot, r.Trial.Digest, nil, &installed.Outcome{Order: word.Order, Stage: message.UpgradeDone, At: time.Now()}
	if files.Write(r) != nil {
		return 97
	}
	return 0
}

const order = "01order"

// bench is a launcher's host.
type bench struct {
	t   *testing.T
	cfg config
	dir string
}

// newBench has packaged and slot programs; all of them are this one, the slots with a byte behind it.
func newBench(t *testing.T, how string) *bench {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, cfg: config{
		args: []string{"run", "--config", "x"}, agent: filepath.Join(dir, "rackboot-agent"), files: installed.Files{Dir: installed.Dir(dir)},
		window: time.Hour, grace: time.Hour, logger: slog.New(slog.DiscardHandler),
	}}
	if err := b.cfg.files.Prepare(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for path, more := range map[string]string{b.cfg.agent: "", b.cfg.files.Program(installed.SlotA): "a", b.cfg.files.Program(installed.SlotB): "b"} {
		if err := os.WriteFile(path, append(bytes.Clone(raw), more...), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	t.Setenv(behave, how)
	return b
}

func (b *bench) digest(place installed.Place) string {
	b.t.Helper()
	d, err := installed.DigestOf(b.cfg.files.Program(place))
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *bench) write(r installed.Record) {
	b.t.Helper()
	if err := b.cfg.files.Write(r); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) record() installed.Record {
	b.t.Helper()
	r, err := b.cfg.files.Read()
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// trial has a trial of slot a begin.
func (b *bench) trial() {
	b.t.Helper()
	b.write(installed.Record{Current: installed.Packaged, Trial: &installed.Trial{Order: order, Slot: installed.SlotA, Digest: b.digest(installed.SlotA), Version: "2.0.0"}})
}

// run runs a launcher. Of each line that an agent prints heard is told; what it returns is sent.
func (b *bench) run(heard func(line string) os.Signal) (code int, lines []string) {
	b.t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	was := os.Stdout
	os.Stdout = in
	signals := make(chan os.Signal, 16)
	b.cfg.signals = signals
	var reading sync.WaitGroup
	reading.Go(func() {
		text := ""
		for buf := make([]byte, 4096); ; {
			n, err := out.Read(buf)
			text += string(buf[:n])
			for {
				line, rest, ok := strings.Cut(text, "\n")
				if !ok {
					break
				}
				text, lines = rest, append(lines, line)
				if sig := heard(line); sig != nil {
					signals <- sig
				}
			}
			if err != nil {
				return
			}
		}
	})
	code = newLauncher(b.cfg).run()
	os.Stdout = was
	_ = in.Close()
	reading.Wait()
	_ = out.Close()
	return code, lines
}

// at sends a signal at a line.
func at(line string, sig os.Signal) func(string) os.Signal {
	return func(said string) os.Signal {
		if said == line {
			return sig
		}
		return nil
	}
}

func TestLauncher(t *testing.T) {
	const packaged, slotA = "packaged runs with run --config x", "a runs with run --config x"
	for name, row := range map[string]struct {
		how    string
		set    func(*bench)
		heard  func(string) os.Signal
		code   int
		lines  string
		stands installed.Place
		last   message.UpgradeCode // of an order that has ended; "Done" is well
	}{
		"its exit code is the agent's":             {"packaged=exit 3", nil, at("", nil), 3, packaged, installed.Packaged, "none"},
		"signals are passed on":                    {"packaged=wait", nil, at(packaged, syscall.SIGHUP), 5, packaged + "|heard hangup", installed.Packaged, "none"},
		"it ends with the agent":                   {"packaged=wait", nil, at(packaged, syscall.SIGTERM), 0, packaged + "|heard terminated", installed.Packaged, "none"},
		"an exit for a release that is none":       {fmt.Sprintf("packaged=exit %d", installed.ExitUpgrade), nil, at("", nil), installed.ExitUpgrade, packaged, installed.Packaged, "none"},
		"a release that is confirmed":              {"a=confirm", (*bench).trial, at("confirmed", syscall.SIGTERM), 0, slotA + "|confirmed|heard terminated", installed.SlotA, "Done"},
		"a release that ends":                      {"a=exit 4,packaged=exit 3", (*bench).trial, at("", nil), 3, slotA + "|" + packaged, installed.Packaged, message.UpgradeExited},
		"a release that ends well":                 {"a=exit 0,packaged=exit 3", (*bench).trial, at("", nil), 3, slotA + "|" + packaged, installed.Packaged, message.UpgradeExited},
		"a release that is told to end goes on":    {"a=wait", (*bench).trial, at(slotA, syscall.SIGTERM), 0, slotA + "|heard terminated", "trial", "none"},
		"a release that is not heard":              {"a=wait,packaged=exit 3", short, at("", nil), 3, slotA + "|heard terminated|" + packaged, installed.Packaged, message.UpgradeUnheard},
		"a release that takes no notice":           {"a=deaf,packaged=exit 3", short, at("", nil), 3, slotA + "|deaf|" + packaged, installed.Packaged, message.UpgradeUnheard},
		"a release that is heard at the last":      {"a=late", short, twice(slotA, syscall.SIGTERM), 0, slotA + "|" + slotA, installed.SlotA, "Done"},
		"a release of another content":             {"packaged=exit 3", torn, at("", nil), 3, packaged, installed.Packaged, message.UpgradeUnusable},
		"a release that cannot be started":         {"packaged=exit 3", locked, at("", nil), 3, packaged, installed.Packaged, message.UpgradeUnusable},
		"a current program that cannot be started": {"packaged=exit 3", lockedCurrent, at("", nil), 3, packaged, installed.Packaged, message.UpgradeUnusable},
		"a damaged record":                         {"packaged=exit 3", damaged, at("", nil), 3, packaged, installed.Packaged, message.UpgradeBroken},
		"a damaged time":                           {"packaged=exit 3", damagedTime, at("", nil), 3, packaged, installed.Packaged, message.UpgradeUnusable},
		"a time that is over":                      {"packaged=exit 3", over, at("", nil), 3, packaged, installed.Packaged, message.UpgradeUnheard},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, row.how)
			if row.set != nil {
				row.set(b)
			}
			code, lines := b.run(row.heard)
			if got := strings.Join(lines, "|"); code != row.code || got != row.lines {
				t.Errorf("exit code %d; the agents say %s", code, got)
			}
			r := b.record()
			switch {
			case row.stands == "trial":
				if r.Trial == nil || r.Trial.Order != order {
					t.Errorf("%+v", r)
				}
			case r.Trial != nil || r.Current != row.stands:
				t.Errorf("%+v", r)
			}
			switch {
			case row.last == "none" && r.Last == nil:
			case row.last == "none" || r.Last == nil:
				t.Errorf("the last order is %+v", r.Last)
			case row.last == "Done" && r.Last.Stage == message.UpgradeDone:
			case row.last != r.Last.Code:
				t.Errorf("the last order is %+v", r.Last)
			}
		})
	}
}

// twice sends a signal at the second of the same lines.
func twice(line string, sig os.Signal) func(string) os.Signal {
	n := 0
	return func(said string) os.Signal {
		if said == line {
			n++
		}
		if said == line && n == 2 {
			return sig
		}
		return nil
	}
}

func short(b *bench) {
	b.trial()
	b.cfg.window, b.cfg.grace = 600*time.Millisecond, 100*time.Millisecond
	if strings.Contains(os.Getenv(behave), "wait") || strings.Contains(os.Getenv(behave), "late") {
		b.cfg.grace = time.Hour // it ends by itself
	}
}

func torn(b *bench) {
	b.trial()
	b.append(b.cfg.files.Program(installed.SlotA))
}

func locked(b *bench) {
	b.trial()
	b.mode(b.cfg.files.Program(installed.SlotA))
}

func lockedCurrent(b *bench) {
	b.write(installed.Record{Current: installed.SlotA, Digest: b.digest(installed.SlotA), Last: &installed.Outcome{Order: order, Stage: message.UpgradeDone}})
	b.mode(b.cfg.files.Program(installed.SlotA))
}

func damaged(b *bench) {
	b.trial()
	b.append(filepath.Join(b.cfg.files.Dir, "record.json"))
}

func damagedTime(b *bench) {
	b.trial()
	over(b)
	b.append(filepath.Join(b.cfg.files.Dir, "spent.json"))
}

func over(b *bench) {
	b.trial()
	if err := b.cfg.files.WriteSpent(installed.Spent{Order: order, Steps: installed.Steps}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) append(path string) {
	b.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = io.WriteString(f, "!")
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// mode takes away from a program that it may be started.
func (b *bench) mode(path string) {
	b.t.Helper()
	if err := os.Chmod(path, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestReceive: nothing but a launcher makes an agent believe that one has started it.
func TestReceive(t *testing.T) {
	b := newBench(t, "packaged=exit 3")
	for name, env := range map[string]string{"no variable": "", "a word": "launcher", "standard error": "2", "no descriptor": "57", "a file": "3"} {
		cmd := exec.Command(b.cfg.agent)
		file, err := os.Open(b.cfg.agent)
		if err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles, cmd.Env = []*os.File{file}, append(os.Environ(), installed.Variable+"="+env)
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 99 {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		_ = file.Close()
	}
	// Of a parent that passes on what it has from its own.
	word, own, err := installed.Launched{Dir: b.cfg.files.Dir, Place: installed.Packaged, Digest: b.digest(installed.SlotA)}.Pass()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", b.cfg.agent+"; exit $?")
	cmd.ExtraFiles, cmd.Env = []*os.File{word}, append(os.Environ(), installed.Variable+"=3")
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 99 || !strings.Contains(string(said), "not of the parent") {
		t.Errorf("%v: %s", err, said)
	}
	_ = word.Close()
	_ = own.Close()
}

func TestConfigure(t *testing.T) {
	for name, row := range map[string]struct {
		env  map[string]string
		dir  string
		fail bool
	}{
		"nothing":           {nil, "/var/lib/rackboot-agent/upgrade", false},
		"of systemd":        {map[string]string{"STATE_DIRECTORY": "/var/lib/one:/var/lib/two"}, "/var/lib/one/upgrade", false},
		"a time":            {map[string]string{"RACKBOOT_LAUNCHER_WINDOW": "3s"}, "/var/lib/rackboot-agent/upgrade", false},
		"a time that is no": {map[string]string{"RACKBOOT_LAUNCHER_WINDOW": "soon"}, "", true},
		"no time at all":    {map[string]string{"RACKBOOT_LAUNCHER_WINDOW": "0s"}, "", true},
	} {
		cfg, err := configure(nil, func(key string) string { return row.env[key] })
		if (err != nil) != row.fail || !row.fail && (cfg.files.Dir != row.dir || filepath.Base(cfg.agent) != "rackboot-agent") {
			t.Errorf("%s: %+v, %v", name, cfg, err)
		}
	}
	var out bytes.Buffer
	for _, arg := range []string{"--help", "--version"} {
		if code := Main([]string{arg}, "1.2.3", os.Getenv, &out, io.Discard); code != 0 {
			t.Errorf("%s: exit code %d", arg, code)
		}
	}
	if text := out.String(); !strings.Contains(text, "rackboot-launcher version 1.2.3") || !strings.Contains(text, "2 minutes") {
		t.Error(text)
	}
}

// TestCrashes: wherever a launcher is killed while it chooses, the next one chooses the same, and the trial has no more time for it.
func TestCrashes(t *testing.T) {
	for name, row := range map[string]struct {
		set   func(*bench)
		place installed.Place
	}{
		"nothing was ever recorded":  {func(*bench) {}, installed.Packaged},
		"a trial":                    {(*bench).trial, installed.SlotA},
		"a trial whose time is over": {over, installed.Packaged},
		"a damaged record":           {damaged, installed.Packaged},
		"another packaged program": {func(b *bench) {
			b.write(installed.Record{Packaged: b.digest(installed.SlotB), Current: installed.SlotA, Digest: b.digest(installed.SlotA)})
		}, installed.Packaged},
	} {
		points := 0
		for n := 1; ; n++ {
			b := newBench(t, "packaged=exit 3")
			row.set(b)
			seen := 0
			b.cfg.files.Crash = func(point string) {
				if seen++; seen == n {
					panic(point)
				}
			}
			spent := 0
			point := func() (point any) {
				defer func() { point = recover() }()
				start, trial, steps := newLauncher(b.cfg).choose()
				if start.Place != row.place || start.Trial != (trial.Order == order) {
					t.Errorf("%s: starts %+v", name, start)
				}
				spent = steps
				return nil
			}()
			if point == nil {
				if start := row.place == installed.SlotA; start != (spent == 1) {
					t.Errorf("%s: %d steps", name, spent)
				}
				break
			}
			points++
			b.cfg.files.Crash = nil
			if err := b.cfg.files.Prepare(); err != nil {
				t.Fatal(err)
			}
			start, _, steps := newLauncher(b.cfg).choose()
			if start.Place != row.place || start.Trial && (steps < 1 || steps > 2) {
				t.Errorf("%s, at %v: then starts %+v with %d steps", name, point, start, steps)
			}
			if r := b.record(); r.Packaged != b.digestOf(b.cfg.agent) {
				t.Errorf("%s, at %v: the record is %+v", name, point, r)
			}
		}
		if points < 3 {
			t.Errorf("%s: %d points", name, points)
		}
	}
}

func (b *bench) digestOf(path string) string {
	b.t.Helper()
	d, err := installed.DigestOf(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}
