// Package serve is what the command lines of the two daemons share. Each daemon
// has its own package below it, so that neither binary contains the other. A
// daemon ends with exit code 0 on SIGINT and SIGTERM, and with the code of the
// error table otherwise.
package serve
