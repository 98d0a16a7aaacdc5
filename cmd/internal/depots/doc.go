// Package depots finds backups where a command line says they are: in a file, on standard input, in a
// folder, or in a bucket.
package depots
