// Package claims moves claims along: it binds them to servers, makes their boot configurations with their grants, and
// lets them go once their server was proved Off.
//
// Where a server was On before anything here booted it, somebody decides: it is kept as it is, or installed over.
// What each step depends on is decided in package plan.
package claims
