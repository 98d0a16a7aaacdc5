// Package launch is rackboot-launcher: it starts the agent's program that the record of package installed names, and starts
// another one when a release that is tried ends or is not heard in time. It reads none of the agent's files but that record,
// and keeps nothing in memory that it could not do without after a restart.
package launch
