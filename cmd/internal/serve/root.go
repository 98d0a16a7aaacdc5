package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rackboot/protocol"
)

// Exit is the error of a command that did what it should, and ends with that exit code and without a word.
type Exit int

// Error implements error.
func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Root makes the command that the others hang below.
func Root(name, short, version string) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, SilenceErrors: true, SilenceUsage: true, Version: version}
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

// Execute runs a command until it ends or a signal asks it to, and returns the
// exit code. The process leaves no core file.
func Execute(c *cobra.Command, args []string, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c.SetArgs(args)
	if err := noCores(); err != nil {
		_, _ = fmt.Fprintf(stderr, "%s: core files cannot be switched off: %v\n", c.Name(), err)
		return protocol.CodeInternal.ExitCode()
	}
	ran := false
	c.PersistentPreRun = func(*cobra.Command, []string) { ran = true }
	err := c.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if exit, is := errors.AsType[Exit](err); is {
		return int(exit)
	}
	if !ran { // of cobra: unknown command or flag, wrong arguments
		err = protocol.Errorf(protocol.CodeInvalid, "", "%w", err).WithHint("%s --help lists the commands", c.Name())
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", c.Name(), err) // nowhere else to say it
	if hint := protocol.HintOf(err); hint != "" {
		_, _ = fmt.Fprintf(stderr, "hint: %s\n", hint)
	}
	return protocol.CodeOf(err).ExitCode()
}
