// Package capture keeps what a BMC answered, without what names the machine, its place and its people:
// for a bug report, and for the simulator, which reads the same form. It opens no connection: what it
// keeps is what somebody else read.
package capture
