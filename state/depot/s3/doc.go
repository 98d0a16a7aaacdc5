// Package s3 keeps backups as objects of a bucket of an S3-compatible store.
//
// An object is written in parts, as it is made, and appears when all of them are there and the store
// was told so; then it is read back. What fails before is taken back, and one that is read otherwise
// than it was written is removed. Parts that a crash leaves are removed by Sweep; a rule of the bucket
// that removes unfinished uploads is good beside it.
package s3
