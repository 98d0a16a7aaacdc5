package bulk

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
)

const (
	// defaultLimit is how many resources a selector may mean where nobody says more.
	defaultLimit = 10
	// namedMost is how many names are shown of those that are meant.
	namedMost = 10
)

// Bulk is the flags of a command that does one thing to several resources.
type Bulk struct {
	limit          int
	keepGoing, yes bool
}

// Flags adds them to a command.
func (b *Bulk) Flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.limit, "limit", defaultLimit, "refuse, and do nothing, where a selector means more than so many")
	cmd.Flags().BoolVar(&b.keepGoing, "keep-going", false, "go on with the others after one has failed")
	cmd.Flags().BoolVarP(&b.yes, "yes", "y", false, "do not ask whether those that a selector means are meant")
}

// KeepsGoing reports whether a failure does not end it.
func (b *Bulk) KeepsGoing() bool { return b.keepGoing }

// Agree asks whether what a selector means is meant. The codes are not_found where it means nothing,
// invalid where it means too many, and denied where nobody says yes.
func (b *Bulk) Agree(src *files.Input, pr *printer.Printer, verb string, names []string) error {
	switch {
	case len(names) == 0:
		return protocol.Errorf(protocol.CodeNotFound, verb, "nothing is selected").WithHint("rackctl get with the same selector shows what is")
	case len(names) > b.limit:
		return protocol.Errorf(protocol.CodeInvalid, verb, "%d are selected, more than --limit %d, and nothing was done: %s", len(names), b.limit, short(names)).
			WithHint("select fewer, or give --limit %d if all of them are meant", len(names))
	case b.yes:
		return nil
	}
	return src.Confirm(pr.Err, verb, fmt.Sprintf("%d: %s", len(names), short(names)))
}

func short(names []string) string {
	if n := len(names) - namedMost; n > 0 {
		return strings.Join(names[:namedMost], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// Each does something to each, one after another, until one fails; the error says which were not tried.
// With --keep-going it tries all.
func (b *Bulk) Each(pr *printer.Printer, names []string, do func(name string) error) error {
	var failed []error
	for i, name := range names {
		err := do(name)
		if err == nil {
			continue
		}
		if len(names) == 1 {
			return err
		}
		failed = append(failed, err)
		if rest := names[i+1:]; !b.keepGoing && len(rest) > 0 {
			pr.Progress("%s failed; not tried: %s", name, short(rest))
			return err
		}
		pr.Progress("%s failed: %s", name, err)
	}
	if len(failed) == 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeOf(failed[0]), "", "%d of %d failed: %w", len(failed), len(names), errors.Join(failed[0])).WithHint("%s", protocol.HintOf(failed[0]))
}
