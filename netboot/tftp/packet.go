package tftp

import "encoding/binary"

// Opcodes (RFC 1350 section 5, RFC 2347).
const (
	opRead  = 1
	opWrite = 2
	opData  = 3
	opAck   = 4
	opError = 5
	opOACK  = 6
)

// Codes of an ERROR (RFC 1350 appendix, RFC 2347 for 8).
const (
	errUndefined = 0
	errNotFound  = 1
	errAccess    = 2
	errIllegal   = 4
	errTID       = 5
	errOption    = 8
)

// headerSize is the opcode and the block number, of DATA and of ACK.
const headerSize = 4

// opcode is 0, which is none, for what is too short to have one.
func opcode(b []byte) uint16 {
	if len(b) < 2 {
		return 0
	}
	return binary.BigEndian.Uint16(b)
}

// number is the block of an ACK, or the code of an ERROR.
func number(b []byte) (n uint16, ok bool) {
	if len(b) < headerSize {
		return 0, false
	}
	return binary.BigEndian.Uint16(b[2:]), true
}

// errorPacket is an ERROR. The text is for a person at the machine's console; it
// never says more than the code does.
func errorPacket(code uint16, text string) []byte {
	b := make([]byte, 0, headerSize+len(text)+1)
	b = binary.BigEndian.AppendUint16(b, opError)
	b = binary.BigEndian.AppendUint16(b, code)
	b = append(b, text...)
	return append(b, 0)
}
