package hold

import (
	"strings"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// flagAnnotation is the flag that takes a reboot annotation of metal3.
const flagAnnotation = "from-annotation"

// annotation takes NAME or NAME=VALUE apart. What is in it is for the hub to judge.
func annotation(text string) api.AnnotationRequest {
	name, value, _ := strings.Cut(text, "=")
	return api.AnnotationRequest{Annotation: strings.TrimSpace(name), Value: value}
}

// alone refuses flags that an annotation says itself.
func alone(cmd *cobra.Command, flags ...string) error {
	for _, f := range flags {
		if cmd.Flags().Changed(f) {
			return protocol.Errorf(protocol.CodeInvalid, "", "--%s and --%s do not go together", flagAnnotation, f).
				WithHint("an annotation is key and mode at once, and its value is kept as the ref")
		}
	}
	return nil
}

// annotate sends the annotation and answers with the hold or the request that it
// became.
func annotate(cmd *cobra.Command, c *api.Client, server, text string) (*resource.Hold, *api.RequestStatus, error) {
	out, err := c.Objects.Annotate(cmd.Context(), resource.KindServer, server, annotation(text))
	return out.Hold, out.Request, err
}
