// Package plan holds the hub's decisions as pure functions: which claim gets
// which server (Bind), and what each agent is told (Compile). It knows no store,
// no clock and no network. A [Fleet] looks things up, functions decide.
package plan
