// Package turns works through units of work by name: a rack, a site. One turn of a unit runs at
// a time, several units take turns at once, and a unit that is woken while its turn runs gets
// another one.
package turns
