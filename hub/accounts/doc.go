// Package accounts says what each certificate may do at a broker, and writes that down as brokers of the user's own read
// it. It is pure: whose certificates there are it is told.
//
//	agent {id}    publish rb/v1/a/{id}/u/#          subscribe rb/v1/a/{id}/d/# rb/v1/h/#
//	hub           publish rb/v1/a/+/d/# rb/v1/h/#   subscribe rb/v1/a/+/u/#
//	store         everything, in an account of its own
//
// What is not listed is denied. The hub's own broker (package broker) has its rights from here too, so that all brokers
// allow the same.
//
// A name that one of the files cannot say exactly is an error. Nothing is ever quoted or left out to make it fit.
package accounts
