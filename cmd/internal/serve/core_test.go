package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// abortChild is the variable that has the test's program end as a daemon that is aborted.
const abortChild = "RACKBOOT_TEST_ABORT"

func TestMain(m *testing.M) {
	if os.Getenv(abortChild) == "" {
		os.Exit(m.Run())
	}
	os.Exit(Execute(&cobra.Command{RunE: func(*cobra.Command, []string) error { return syscall.Kill(os.Getpid(), syscall.SIGABRT) }}, nil, os.Stderr))
}

// TestNoCores: a daemon that is aborted leaves no core file, whatever its environment asks for.
func TestNoCores(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `ulimit -c unlimited; exec "$0"`, os.Args[0])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), abortChild+"=1", "GOTRACEBACK=crash")
	err := cmd.Run()
	if status, is := cmd.ProcessState.Sys().(syscall.WaitStatus); err == nil || !is || status.Signal() != syscall.SIGABRT || status.CoreDump() {
		t.Errorf("it ended with %v, a core is written: %t", err, status.CoreDump())
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("it left %v", files)
	}
}
