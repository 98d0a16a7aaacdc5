package tftp

// acked says what the number of an ACK means where base blocks are acknowledged
// and sent were sent: the last block that the client has, and whether that is
// news.
//
// A number that is not in the window is old or nonsense. That of base itself is
// not news either: answering a repeated ACK by data would repeat every block from
// then on, because each repeated block is acknowledged again (RFC 1123 section
// 4.2.3.1, the sorcerer's apprentice). EDK2 says an ACK for each block that it did
// not expect. One that is within the window says that what comes after it is lost
// (RFC 7440 section 4): the next window begins there.
func acked(n uint16, base, sent int64) (last int64, news bool) {
	ahead := int64(n - uint16(base)) // in 16 bits: numbers roll over to 0
	if ahead == 0 || ahead > sent-base {
		return base, false
	}
	return base + ahead, true
}

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
)

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
