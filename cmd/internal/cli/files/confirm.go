package files

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"rackboot/protocol"
)

// Confirm asks on w whether to do what verb says. Nothing but yes, in full, is a yes; no answer is no.
func (s *Input) Confirm(w io.Writer, verb, what string) error {
	fmt.Fprintf(w, "Type yes to %s %s: ", verb, what)
	line, _ := bufio.NewReader(s.Stdin).ReadString('\n')
	fmt.Fprintln(w)
	if strings.TrimSpace(line) != "yes" {
		return protocol.Errorf(protocol.CodeDenied, verb, "not confirmed, and nothing was done").WithHint("type yes, or give --yes")
	}
	return nil
}
