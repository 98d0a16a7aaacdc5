// Package keypair makes the keys that people sign with, as two new files.
package keypair
