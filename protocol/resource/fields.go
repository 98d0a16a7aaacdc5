package resource

import "rackboot/protocol"

// fields collects what is wrong with a resource. Its methods check what several kinds have.
type fields struct{ protocol.FieldErrors }
