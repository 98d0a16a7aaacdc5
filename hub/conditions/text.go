package conditions

import "rackboot/protocol"

// Text is what a condition says of an error: with its hint.
func Text(err error) string {
	if hint := protocol.HintOf(err); hint != "" {
		return err.Error() + "; " + hint
	}
	return err.Error()
}
