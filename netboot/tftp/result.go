package tftp

// result is how a transfer ended, the label `result` of
// rackboot_tftp_transfers_total.
type result string

const (
	resultDone      result = "done"       // the last block was acknowledged
	resultProbed    result = "probed"     // the client wanted to know the size
	resultStray     result = "stray"      // the client did not ask for this one
	resultAborted   result = "aborted"    // the client gave up
	resultTimeout   result = "timeout"    // the client does not answer
	resultDeadline  result = "deadline"   // it took too long
	resultReadError result = "read_error" // the file could not be read
	resultSocket    result = "socket"     // the host gave no socket
	resultStopped   result = "stopped"    // the server stops
	resultPanic     result = "panic"

	resultOpen result = "open" // it has not ended, and is not counted
)

// farewell is the ERROR that tells the client of the end; nil is silence.
func (r result) farewell() []byte {
	switch r {
	case resultDeadline:
		return errorPacket(errUndefined, "took too long")
	case resultReadError:
		return errorPacket(errUndefined, "reading failed")
	case resultStopped:
		return errorPacket(errUndefined, "the server stops")
	default: // the client knows, or is not there
		return nil
	}
}

// ended says what the ERROR of a client means. begun is that it has acknowledged
// something. The first row that fits decides.
//
//	begun | tsize | code | result
//	*     | *     | 5    | stray
//	no    | yes   | *    | probed
//	no    | no    | 8    | probed
//	*     | *     | *    | aborted
//
// EDK2 asks for the size first and ends that transfer by ERROR 8 after the OACK;
// older ROMs do it with code 0. ERROR 5 answers the second transfer of a request
// that the network doubled.
func ended(begun, tsize bool, code uint16) result {
	switch {
	case code == errTID:
		return resultStray
	case !begun && (tsize || code == errOption):
		return resultProbed
	default:
		return resultAborted
	}
}
