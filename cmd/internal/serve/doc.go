// Package serve is the command line of the two daemons, rackboot-agent and
// rackboot-hub. A daemon ends with exit code 0 on SIGINT and SIGTERM, and with
// the code of the error table otherwise.
package serve
