// Package server is the room of the loops of servers: each observes one server, decides,
// persists, acts and reports, strictly in that order. It has no branch on policy.
//
// A loop is put together of parts with their own state:
//
//	signals      what makes the loop look: a poke, evidence, an event of the BMC
//	inbox        what waits for the next step: evidence, the board that was read
//	connection   the BMC's driver, and whether the BMC answers
//	board        when the board is read again, beside the loop
//	steps        the server's record: what was decided last, and what could not be recorded
//	hand         the plan's one action
//	teller       the server's report
//	images       what the server's image reported
//
// Parts know those before them only through what they are given, and none knows the loop.
// Loops finds the loop of a server by its name.
package server
