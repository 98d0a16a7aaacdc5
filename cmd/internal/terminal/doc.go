// Package terminal makes texts fit to be shown: some come from BMCs and from people,
// and a terminal might obey their control characters.
package terminal
