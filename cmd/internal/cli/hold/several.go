package hold

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/bulk"
	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// several is the flags of a verb that is done to several servers.
type several struct {
	bulk.Bulk
	choice choice.Choice
}

func (s *several) flags(cmd *cobra.Command) {
	s.choice.Flags(cmd)
	s.Flags(cmd)
}

// servers are those that are named, or that a selector means and somebody agrees to.
func (s *several) servers(cmd *cobra.Command, hubs *client.Hubs, src *files.Input, pr *printer.Printer, verb string, given []string) ([]string, error) {
	names, selected, err := s.choice.Names(cmd.Context(), hubs.Connect, resource.KindServer, given)
	if err == nil && selected {
		err = s.Agree(src, pr, verb, names)
	}
	return names, err
}
