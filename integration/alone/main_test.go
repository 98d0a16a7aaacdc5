//go:build host

package alone

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The processes that run inside namespaces are copies of the test program.
const (
	childVar  = "RACKBOOT_TEST_CHILD"
	configVar = "RACKBOOT_TEST_CONFIG"

	childAgent    = "agent"
	childMachine  = "machine"
	childRegistry = "registry"
	childFlood    = "flood"
	childServer   = "server"
	childIntruder = "intruder"
)

func TestMain(m *testing.M) {
	children := map[string]func() error{childAgent: runAgent, childMachine: runMachine, childRegistry: runRegistry, childFlood: runFlood, childServer: runServer, childIntruder: runIntruder}
	run, ok := children[os.Getenv(childVar)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// config reads what the child is told.
func config[T any]() (c T, err error) {
	err = json.Unmarshal([]byte(os.Getenv(configVar)), &c)
	return c, err
}
