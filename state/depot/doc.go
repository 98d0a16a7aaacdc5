// Package depot keeps backups outside of the hub's folder: in a folder, or in a bucket of an
// S3-compatible store (package s3). One that is there under its name is whole, and was read back.
//
// A depot is one hub's: what has the name of a backup there is counted, and removed when it is old.
package depot
