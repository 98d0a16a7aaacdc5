// Package installed says which program of the agent runs on its host: the packaged one, or one of two slots into which the
// agent puts releases that it was ordered to run. The launcher chooses by it, and the agent writes orders and confirms them.
//
//	<dir>/upgrade/record.json        which is the current one, what is on trial, what became of the last order
//	<dir>/upgrade/spent.json         how much of its time the trial has used; the launcher's
//	<dir>/upgrade/a/rackboot-agent   the slots
//	<dir>/upgrade/b/rackboot-agent
//
// An agent writes the record while it runs, the launcher while none runs: there is one writer at any time. A write replaces
// the file; see [rackboot/state/file]. The record comes before the act: a trial is in it before the agent ends, and the
// confirmation before the next order is begun.
//
// The packaged program is what a trial and a broken slot return to. When another one was installed by the host's package
// manager since it was looked at last, that one runs: who changes the host itself has the last word.
package installed
