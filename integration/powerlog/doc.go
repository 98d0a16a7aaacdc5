// Package powerlog is the file that a simulated machine writes of its own life: when it
// had power, what it booted, what was installed. Whoever judges what became of the
// machine reads this file, and not what anybody says of it.
//
// The file is append-only: one JSON object a line, written in one write. Times are of
// CLOCK_BOOTTIME, which no step of the host's clock changes and which all processes of a
// host share. A process that is killed may leave a torn last line, after which the next
// process begins a line of its own.
package powerlog
