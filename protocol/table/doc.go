// Package table says what each kind of resource has in a table: the columns, and of each resource a row of values. Who draws
// it decides about widths, colours and how long ago something is: a cell has the instant, not an age.
package table
