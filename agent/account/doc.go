// Package account is the room of BMC accounts: by which credentials a BMC is spoken
// with now, whether they are a file at the agent, came sealed from the hub, or are the
// next ones of a change that is under way, and how far that has come. Changes does at the BMC what
// a change needs, in the loop of a server behind it; Denials remembers which accounts BMCs refused.
package account
