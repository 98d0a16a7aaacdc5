package shellpage

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Session is one shell that runs blocks one after the other. What a block leaves is there
// for the next: variables, the folder, and what it started with &.
type Session struct {
	cmd    *exec.Cmd
	notes  string // folder of the blocks and of what they print
	stdin  *os.File
	output *os.File
	done   chan string // a line for each block that ran to its end
	ended  chan struct{}
	n      int
}

// Start starts a shell in a folder, with no environment but the one given.
func Start(notes, dir string, env []string) (*Session, error) {
	output, err := os.Create(filepath.Join(notes, "output"))
	if err != nil {
		return nil, err
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	marks, mark, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, output.Close(), in.Close(), stdin.Close())
	}
	s := &Session{cmd: exec.Command("/bin/sh", "-eu"), notes: notes, stdin: stdin, output: output, done: make(chan string), ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = dir, env, in, output, output
	s.cmd.ExtraFiles = []*os.File{mark}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, output.Close(), in.Close(), stdin.Close(), marks.Close(), mark.Close())
	}
	_, _ = in.Close(), mark.Close() // the shell has its own
	go func() {
		lines := bufio.NewScanner(marks)
		for lines.Scan() {
			select {
			case s.done <- lines.Text():
			case <-s.ended:
			}
		}
		_ = marks.Close() // it was read to its end
	}()
	go func() {
		_ = s.cmd.Wait() // how it ended is said by what it printed
		close(s.ended)
	}()
	return s, nil
}

// Run runs a block to its end, and returns what it printed and how long it took. A command
// that fails ends the block and the session.
func (s *Session) Run(b Block, within time.Duration) (printed string, took time.Duration, err error) {
	s.n++
	path := filepath.Join(s.notes, fmt.Sprintf("block-%d", s.n))
	if err := os.WriteFile(path, []byte(b.Text), 0o600); err != nil {
		return "", 0, err
	}
	begun := time.Now()
	from, err := s.output.Seek(0, 1)
	if err != nil {
		return "", 0, err
	}
	// The block is not the shell's input: a command that reads would eat the next one.
	// What it starts has no part in the marks.
	_, err = fmt.Fprintf(s.stdin, ". %s </dev/null 3>&-\necho %d >&3\n", path, s.n)
	if err == nil {
		err = s.await(within)
	}
	took = time.Since(begun)
	text, readErr := os.ReadFile(s.output.Name())
	return string(text[min(from, int64(len(text))):]), took, errors.Join(err, readErr)
}

// screenRows is how high the terminal of Show is: what a terminal has that nobody made higher.
const screenRows = 24

// Show runs a command at a terminal of so many columns, as a reader has one, and returns what was written
// to it. It needs script of util-linux.
func (s *Session) Show(command string, columns int, within time.Duration) (screen string, err error) {
	path := filepath.Join(s.notes, "shown")
	if err := os.WriteFile(path, []byte(command), 0o600); err != nil {
		return "", err
	}
	screen, _, err = s.Run(Block{Text: fmt.Sprintf("TERM=xterm-256color SHELL=/bin/sh script -qec 'stty cols %d rows %d; . %s' /dev/null\n", columns, screenRows, path)}, within)
	return screen, err
}

func (s *Session) await(within time.Duration) error {
	want := fmt.Sprint(s.n)
	select {
	case got := <-s.done:
		if got != want {
			return fmt.Errorf("block %s ended, not %s", got, want)
		}
		return nil
	case <-s.ended:
		return fmt.Errorf("a command failed: %s", s.cmd.ProcessState)
	case <-time.After(within):
		return fmt.Errorf("not done within %s", within)
	}
}

// endTime is how long what blocks started may take to end.
const endTime = 20 * time.Second

// Close ends the shell and everything that blocks started.
func (s *Session) Close() error {
	group := -s.cmd.Process.Pid
	_, err := fmt.Fprint(s.stdin, "trap '' TERM\nkill -TERM 0\nwait\nexit 0\n")
	if err != nil {
		_ = syscall.Kill(group, syscall.SIGTERM) // the shell has ended, what it started may not have
		err = nil
	}
	select {
	case <-s.ended:
	case <-time.After(endTime):
		err = fmt.Errorf("what the page started did not end within %s", endTime)
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // mostly nobody is left
	return errors.Join(err, s.stdin.Close(), s.output.Close())
}
