// Package client is rackctl's way to a hub: the hubs that it knows, which of them it talks to and as
// whom, and how it waits for what a hub has not done yet. It prints nothing.
package client
