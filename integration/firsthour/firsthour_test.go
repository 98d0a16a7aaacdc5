//go:build host

package firsthour

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"rackboot/integration/netns"
	"rackboot/integration/shellpage"
	draw "rackboot/integration/shellpage/picture"
)

// pictures is where the pictures of the pages are written, made anew; without it those of the commit are compared.
var pictures = flag.String("pictures", "", "write the pictures of the pages into this folder")

// cold builds everything anew, as on a machine that has never built it.
var cold = flag.Bool("cold", false, "build with an empty build cache")

// pictureColumns is what a terminal has that nobody made wider.
const pictureColumns = 80

// blockLimit is for one block; the longest builds the programs.
const blockLimit = 10 * time.Minute

// Each journey runs in a namespace of its own, so that no port that its pages name is taken.
func TestJourneys(t *testing.T) {
	clone := cleanClone(t)
	for _, j := range Journeys() {
		t.Run(j.Name, func(t *testing.T) {
			run(t, j, clone)
		})
	}
}

// cleanClone is what somebody has who cloned this commit.
func cleanClone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rackboot")
	out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--no-hardlinks", top(t), dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func top(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// step is a block that was run.
type step struct {
	page string
	line int
	what string
	took time.Duration
}

func run(t *testing.T, j Journey, clone string) {
	t.Helper()
	ns, err := netns.New(t.Context(), j.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.Close(); err != nil {
			t.Error(err)
		}
	})
	dir, bin := clone, filepath.Join(clone, "bin")
	if !j.Builds {
		dir = t.TempDir()
		build(t, clone)
	} else {
		bin = ""
	}
	var s *shellpage.Session
	notes := t.TempDir()
	if err := ns.Do(func() (err error) {
		s, err = shellpage.Start(notes, dir, environment(t, bin))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var steps []step
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%s:\n%s", j.Name, table(steps))
	}()
	for _, page := range j.Pages {
		text, err := os.ReadFile(filepath.Join(clone, page))
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, b := range shellpage.Blocks(string(text)) {
			if !b.Runs() {
				continue
			}
			printed, took, err := s.Run(b, blockLimit)
			steps = append(steps, step{page, b.Line, b.Title(), took})
			ran++
			if err != nil {
				t.Fatalf("%s:%d: %v\n%s\nprinted:\n%s", page, b.Line, err, b.Text, printed)
			}
			if b.Picture != "" {
				picture(t, s, b, clone)
			}
		}
		if ran == 0 {
			t.Errorf("%s has no block that runs; it needs no journey", page)
		}
	}
}

// picture draws the last command of a block, as a reader's terminal shows it. What is shown has other times and
// digests each day; its first line is as on the picture of the commit.
func picture(t *testing.T, s *shellpage.Session, b shellpage.Block, clone string) {
	t.Helper()
	name := b.Picture
	screen, err := s.Show(b.Last(), pictureColumns, time.Minute)
	if err != nil {
		t.Fatalf("picture %s: %v\n%s", name, err, screen)
	}
	for line := range strings.Lines(screen) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > pictureColumns && !strings.Contains(line, "\x1b") {
			t.Errorf("picture %s: the terminal has to break a line of %d columns: %s", name, n, line)
		}
	}
	drawn := draw.SVG(b.Last(), []byte(screen), pictureColumns)
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, name), drawn, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(filepath.Join(clone, "docs/pictures", name))
	if err != nil {
		t.Errorf("%v; make pictures", err)
		return
	}
	was, err := draw.Head(committed)
	if err != nil {
		t.Fatalf("picture %s: %v", name, err)
	}
	is, err := draw.Head(drawn)
	if err != nil {
		t.Fatal(err)
	}
	if was != is {
		t.Errorf("picture %s shows %q, not %q; make pictures", name, was, is)
	}
}

// environment is an empty home, the programs and what a shell needs. Go finds what was built
// and fetched before, unless it is to begin cold: the module proxy is not what is measured.
func environment(t *testing.T, bin string) []string {
	t.Helper()
	path := "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	if bin != "" {
		path = bin + ":" + path
	} else if tool, err := exec.LookPath("go"); err == nil {
		path = filepath.Dir(tool) + ":" + path
	}
	env := []string{"HOME=" + t.TempDir(), "PATH=" + path, "TMPDIR=" + t.TempDir(), "LC_ALL=C.UTF-8"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GONOSUMDB", "GOSUMDB"} {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		value := string(bytes.TrimSpace(out))
		if name == "GOCACHE" && *cold {
			value = t.TempDir()
		}
		env = append(env, name+"="+value)
	}
	return env
}

// build makes the programs of the clone, where README's journey has not.
func build(t *testing.T, clone string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "make", "--no-print-directory", "build")
	c.Dir, c.WaitDelay = clone, time.Second
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func table(steps []step) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	var sum time.Duration
	for _, s := range steps {
		sum += s.took
		what := s.what
		if len(what) > 60 {
			what = what[:60] + "…"
		}
		_, _ = fmt.Fprintf(w, "%6.1fs\t%6.1fs\t%s:%d\t%s\n", s.took.Seconds(), sum.Seconds(), s.page, s.line, what)
	}
	_ = w.Flush() // into memory
	return b.String()
}

// A page that somebody breaks is found: a wrong flag fails at its line.
func TestJourneyCanFail(t *testing.T) {
	s, err := shellpage.Start(t.TempDir(), t.TempDir(), []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it has ended
	for _, b := range shellpage.Blocks("```sh\ntrue\n```\n\n```sh example: no\nfalse\n```\n\n```sh\nls --such-a-flag\n```\n") {
		if !b.Runs() {
			continue
		}
		if _, _, err := s.Run(b, time.Minute); (err != nil) != (b.Line == 10) {
			t.Errorf("line %d: %v", b.Line, err)
		}
	}
}
