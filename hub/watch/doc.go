// Package watch tells many readers what changes of resources, as it changes.
//
// What people see of a resource is made of what is stored, of what agents report and of what rooms find. The room
// looks at a resource again when something was written of it, at once; when its server or rack was written or heard of,
// within a second; and in any case in a round over all of them, because rooms find conditions that nobody writes, and
// time alone makes others. What it looks at is made into JSON once. Where that says something new, each watch of the
// kind is told.
//
// Watches that want some fields have a board of their own for each selection: it compares these fields alone, so that what
// changes besides them is told to nobody there.
//
// A watch has a queue with the newest state of each resource that changed. Its reader takes from it at its own pace,
// and judges there what its caller may see. So a slow reader costs its queue, which has each name once, and delays
// nobody.
//
// A position counts changes in one run of the hub. What came later is told to who goes on from it. Where that cannot be
// told - of another run, of long ago, or for a caller with a scope, of whom nobody knows what he has seen - everything
// is told again, and the reader compares digests.
package watch
