// Package revisions has the histories of server groups: which revision a server is given, what its servers have booted
// of each, and what that proves.
//
// A history is append-only. A revision is a group's current one only once its status says so; a turn that a crash cut
// off between both is completed by the next.
package revisions
