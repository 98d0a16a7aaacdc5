package protocol

import (
	"crypto/sha256"
	"encoding/hex"
)

// BootTraceID returns the trace ID of an attempt to boot a server, as W3C Trace Context writes it: 32 lower-case
// hex digits. attempt is the random id of the attempt, which makes it unique in the world. Agent, hub and tools
// compute the same ID, so that no message carries it.
func BootTraceID(server, attempt string) string {
	sum := sha256.Sum256([]byte("rackboot boot trace\n" + server + "\n" + attempt))
	return hex.EncodeToString(sum[:16])
}
