// Package pki keeps the hub's keys on disk: its own certificate authority, the
// certificate of the hub, the key that signs documents, and the token of the
// first administrator.
//
//	ca.pem           CA certificate and key, ECDSA P-256, 10 years
//	hub.pem          the hub's certificate and key, for server and client use
//	signing.pem      Ed25519 key that signs documents and grants
//	statements.json  the first signing key, and the statements that lead from it to signing.pem
//	admin.token      bearer token of the API
//
// and, once keys were changed:
//
//	signing-next.pem  while the signing key is being changed
//	ca-next.pem       the authority that will sign next, and signs nothing yet
//	ca-old.pem        former authorities, whose agents' certificates are still good
//
// The folder is 0700 and the files are 0600. Each file is complete or absent: it
// is written under another name, fsynced and renamed. ca.pem is written after
// signing.pem, so its presence means that the keys were made once; from then on
// a missing key is an error, because the agents have pinned the old ones.
// hub.pem and admin.token can be made again and are, when they are missing.
package pki
