// Package account is the room of BMC accounts: by which credentials a BMC is spoken
// with now, whether they are a file at the agent, came sealed from the hub, or are the
// next ones of a change that is under way, and how far that has come. What a change does
// at the BMC is the server loop's.
package account
