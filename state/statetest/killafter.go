package statetest

import (
	"os"
	"testing"
	"time"
)

// KillAfter runs main in a child process on an empty directory and kills it
// with SIGKILL when the n-th acknowledgement has arrived. It returns the
// directory and all acknowledgements that arrived, in order; there may be more
// than n. A main that returns first fails the test.
//
// main calls ack with one line per write that it holds to be durable.
func KillAfter(t *testing.T, n int, main func(dir string, ack func(string))) (dir string, acked []string) {
	t.Helper()
	return KillAfterDelay(t, n, 0, main)
}

// KillAfterDelay is KillAfter with a pause between the acknowledgement and the kill, to come
// upon what main does next. main may acknowledge that it begins something.
func KillAfterDelay(t *testing.T, n int, delay time.Duration, main func(dir string, ack func(string))) (dir string, acked []string) {
	t.Helper()
	if isChild(t) {
		p := openPipe()
		main(os.Getenv(envDir), func(s string) { p.line(lineAck, s) })
		p.line(lineDone, "")
		die()
	}
	// Made here, not by the caller, who runs in the child too, where nothing
	// cleans up.
	dir = t.TempDir()
	rep := runChild(t, dir, 0, func(p *os.Process, r *report) {
		if len(r.acked) == n {
			time.AfterFunc(delay, func() { _ = p.Kill() }) // it may have ended by itself
		}
	})
	if rep.done {
		t.Fatalf("main ended after %d acknowledgements, before the kill at %d", len(rep.acked), n)
	}
	return dir, rep.acked
}
