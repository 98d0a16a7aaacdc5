//go:build host

package alone

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// limit is many times of what anything here takes.
const limit = 40 * time.Second

// process is a child. It is told one word a line, and says one JSON object a line.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	tell  io.WriteCloser
	said  chan string
	errs  strings.Builder // valid once ended is closed
	ended chan struct{}
	err   error // likewise
}

// start starts a child inside a namespace, until the test ends. It ends when it is
// told nothing more. as say how it is started.
func start(t *testing.T, ns *netns.Namespace, name string, config any, as ...func(*exec.Cmd)) *process {
	t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, name: name, cmd: exec.Command(os.Args[0]), said: make(chan string, 64), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childVar+"="+name, configVar+"="+string(raw))
	p.cmd.Stderr = &p.errs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	for _, change := range as {
		change(p.cmd)
	}
	p.tell, err = p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Start(p.cmd); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.said <- lines.Text()
		}
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(p.stop)
	return p
}

func (p *process) stop() {
	_ = p.tell.Close() // it may have ended
	select {
	case <-p.ended:
	case <-time.After(limit):
		_ = p.cmd.Process.Kill() // it may end just now
		<-p.ended
		p.t.Errorf("%s did not end", p.name)
	}
	if p.err != nil || p.t.Failed() {
		p.t.Logf("%s: %v\n%s", p.name, p.err, p.errs.String())
	}
	if p.err != nil {
		p.t.Fail()
	}
}

// say tells the child a word.
func (p *process) say(word string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.tell, word); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// hear takes the next that a child says.
func hear[T any](p *process) (v T) {
	p.t.Helper()
	select {
	case line := <-p.said:
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			p.t.Fatalf("%s says %q: %v", p.name, line, err)
		}
	case <-p.ended:
		p.t.Fatalf("%s has ended: %v\n%s", p.name, p.err, p.errs.String())
	case <-time.After(limit):
		p.t.Fatalf("%s says nothing", p.name)
	}
	return v
}

// speak is what a child says.
func speak(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// listen calls do for each word that a child is told, until there are no more.
func listen(do func(word string) error) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := do(lines.Text()); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err())
}
