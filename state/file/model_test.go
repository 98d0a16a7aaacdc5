package file

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"testing"
)

// model is a folder on a disk that loses what was not fsynced, and may have kept any of it.
type model struct {
	files   map[string]*content // as programs see it
	durable map[string]*content // names that are on disk
	steps   int
	open    int // handles
	end     int // the step that fails
	short   bool
	failed  string
	crashes bool // the machine ends at that step, and does not go on
}

type content struct {
	name   string
	mode   fs.FileMode
	text   string
	synced int // bytes of it that are on disk
	disk   *model
}

var (
	errStep  = errors.New("it failed")
	errCrash = errors.New("the machine ended")
)

// step is one that the disk does; it fails where the test says so.
func (m *model) step(name string) error {
	if m.failed != "" && m.crashes {
		panic(errCrash)
	}
	m.steps++
	if m.steps != m.end {
		return nil
	}
	m.failed = name
	if m.crashes {
		panic(errCrash)
	}
	return fmt.Errorf("%s: %w", name, errStep)
}

func (m *model) create(folder, pattern string) (handle, error) {
	if err := m.step("create"); err != nil {
		return nil, err
	}
	c := &content{name: path.Join(folder, strings.Replace(pattern, "*", "1", 1)), mode: 0o600, disk: m}
	m.open++
	m.files[c.name] = c
	return c, nil
}

func (m *model) rename(from, to string) error {
	if err := m.step("rename"); err != nil {
		return err
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *model) remove(name string) error {
	delete(m.files, name)
	return nil
}

func (m *model) syncFolder(string) error {
	if err := m.step("fsync of the folder"); err != nil {
		return err
	}
	m.durable = maps.Clone(m.files)
	return nil
}

func (c *content) Name() string { return c.name }

func (c *content) Chmod(mode fs.FileMode) error {
	if err := c.disk.step("chmod"); err != nil {
		return err
	}
	c.mode = mode
	return nil
}

func (c *content) Write(data []byte) (int, error) {
	if err := c.disk.step("write"); err != nil {
		if c.disk.short {
			c.text = string(data[:len(data)/2])
		}
		return len(c.text), err
	}
	c.text = string(data)
	return len(data), nil
}

func (c *content) Sync() error {
	if err := c.disk.step("fsync"); err != nil {
		return err
	}
	c.synced = len(c.text)
	return nil
}

func (c *content) Close() error {
	c.disk.open--
	return c.disk.step("close")
}

const modelPath = "/d/f"

// run replaces "old text" in a folder whose disk fails, or ends, at a step.
func run(end int, crashes, short bool) (m *model, err error) {
	old := &content{name: modelPath, mode: 0o600, text: "old text", synced: len("old text")}
	m = &model{files: map[string]*content{modelPath: old}, end: end, crashes: crashes, short: short}
	m.durable = maps.Clone(m.files)
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return m, Writer{disk: m}.Replace(modelPath, []byte("new text"), 0o640)
}

// left are what may be on disk after a crash: the names are those of before or those of now, and
// of a content what was fsynced, or more.
func (m *model) left() []string {
	var out []string
	for _, names := range []map[string]*content{m.durable, m.files} {
		c := names[modelPath]
		if c == nil {
			out = append(out, "no file")
			continue
		}
		for n := c.synced; n <= len(c.text); n++ {
			out = append(out, c.text[:n])
		}
	}
	return out
}

// stepsOf is how many steps a replacement has.
func stepsOf(t *testing.T) int {
	t.Helper()
	m, err := run(0, false, false)
	if err != nil || m.steps != 7 {
		t.Fatalf("%d steps, %v", m.steps, err)
	}
	for _, text := range m.left() {
		if text != "new text" {
			t.Errorf("all went well, and %q may be on disk", text)
		}
	}
	return m.steps
}

// A machine that ends at any step has the old file or the new one, whole.
func TestCrash(t *testing.T) {
	for end := range stepsOf(t) {
		m, err := run(end+1, true, true)
		if !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", end+1, err)
		}
		for _, text := range m.left() {
			if text != "old text" && text != "new text" {
				t.Errorf("it ends at %s, and %q may be on disk", m.failed, text)
			}
		}
	}
}

// A step that fails is told, and leaves nothing beside the file, which is whole then and after
// a crash. Only if all but the last fsync went well it is the new one.
func TestStepFails(t *testing.T) {
	for end := range stepsOf(t) {
		for _, short := range []bool{false, true} {
			m, err := run(end+1, false, short)
			if !errors.Is(err, errStep) || !strings.Contains(err.Error(), "replace "+modelPath+": "+m.failed) {
				t.Errorf("%s: %v", m.failed, err)
			}
			want := "old text"
			if m.failed == "fsync of the folder" {
				want = "new text"
			}
			if got := m.files[modelPath].text; got != want || len(m.files) != 1 || m.open != 0 {
				t.Errorf("%s: the file is %q among %d, and %d are open", m.failed, got, len(m.files), m.open)
			}
			for _, text := range m.left() {
				if text != "old text" && text != "new text" {
					t.Errorf("%s: %q may be on disk", m.failed, text)
				}
			}
		}
	}
}

// What is secret has its mode before it has a byte.
func TestModeFirst(t *testing.T) {
	for end := range stepsOf(t) {
		m, _ := run(end+1, true, true)
		for name, c := range m.files {
			if name != modelPath && c.text != "" && c.mode != 0o640 {
				t.Errorf("it ends at %s: %s has %d bytes and mode %v", m.failed, name, len(c.text), c.mode)
			}
		}
	}
}

// The crash points come in their order.
func TestPoints(t *testing.T) {
	var points []string
	m := &model{files: map[string]*content{}}
	if err := (Writer{Point: "p", Crash: func(p string) { points = append(points, p) }, disk: m}).Replace(modelPath, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(points, " "); got != "p.begun p.written p.renamed" {
		t.Errorf("%s", got)
	}
}
