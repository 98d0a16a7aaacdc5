// Package publickey reads the public keys of hubs and agents as people have them: PEM, hexadecimal
// or base64.
package publickey
