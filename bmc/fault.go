package bmc

import (
	"errors"

	"rackboot/protocol"
)

// Faulty is in the chain of an error that the BMC caused. It says so in typed fields.
type Faulty interface {
	error
	// Fault is what the BMC did wrong, with its own words.
	Fault() protocol.BMCFault
}

// FaultOf is the fault in an error's chain; the zero value if the BMC caused none.
func FaultOf(err error) protocol.BMCFault {
	if f, ok := errors.AsType[Faulty](err); ok {
		return f.Fault()
	}
	return protocol.BMCFault{}
}
