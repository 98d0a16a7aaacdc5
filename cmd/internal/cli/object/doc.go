// Package object is rackctl's verbs on resources of any kind, from apply to wait, and the verbs
// of secrets, which are resources that are never shown.
package object
