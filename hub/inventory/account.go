package inventory

import (
	"maps"

	"rackboot/protocol"
)

// The names in the data of an account that is being changed, besides those that people
// write. They have a dot, which keeps them out of the digest.
const (
	nextUsername = "next.username"
	nextPassword = "next.password"
	nextDrop     = "next.drop"
	nextChange   = "next.change"
	nextLocal    = "next.local" // file at the agent that has the account in use
	nextFrom     = "next.from"  // credentialsRef before the BMC had a Secret of its own
	// What was the account before, until the agent has the next as the only one.
	formerUsername = "former.username"
	formerPassword = "former.password"
)

func text(d protocol.SecretData, name string) string { return string(d[name]) }

// credentialsOf is what is sealed of a Secret's data.
func credentialsOf(d protocol.SecretData) protocol.BMCCredentials {
	c := protocol.BMCCredentials{
		BMCAccount: protocol.BMCAccount{Username: text(d, protocol.SecretUsername), Password: text(d, protocol.SecretPassword)},
		Local:      text(d, nextLocal), Drop: protocol.DropOld(text(d, nextDrop)), Change: text(d, nextChange),
	}
	if text(d, nextUsername) != "" {
		c.Next = &protocol.BMCAccount{Username: text(d, nextUsername), Password: text(d, nextPassword)}
	}
	return c
}

// promoted is the data once next is the account.
func promoted(d protocol.SecretData) protocol.SecretData {
	out := protocol.SecretData{protocol.SecretUsername: d[nextUsername], protocol.SecretPassword: d[nextPassword]}
	if text(d, protocol.SecretUsername) != "" {
		out[formerUsername], out[formerPassword] = d[protocol.SecretUsername], d[protocol.SecretPassword]
	}
	return out
}

// only is the account in use, with nothing else.
func only(d protocol.SecretData) protocol.SecretData {
	out := maps.Clone(d)
	maps.DeleteFunc(out, func(name string, _ protocol.Plain) bool {
		return name != protocol.SecretUsername && name != protocol.SecretPassword
	})
	return out
}
