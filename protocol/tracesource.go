package protocol

// TraceSource is who saw what a row of a trace says.
type TraceSource string

// The sources.
const (
	TraceAttempt TraceSource = "attempt" // the agent: a step of the attempt
	TraceRedfish TraceSource = "redfish" // what was written to the BMC and read from it
	TraceDHCP    TraceSource = "dhcp"
	TraceTFTP    TraceSource = "tftp"
	TraceHTTP    TraceSource = "http"
	TraceReport  TraceSource = "report" // the image that was booted
	TraceGap     TraceSource = "gap"    // rows that were dropped
)
