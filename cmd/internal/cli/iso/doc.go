// Package iso is rackctl's verbs of uploaded files. An upload that was interrupted goes on where
// it was.
package iso
