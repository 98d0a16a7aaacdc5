package inventory

import (
	"maps"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
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

func text(d resource.SecretData, name string) string { return string(d[name]) }

// credentialsOf is what is sealed of a Secret's data.
func credentialsOf(d resource.SecretData) message.BMCCredentials {
	c := message.BMCCredentials{
		BMCAccount: resource.BMCAccount{Username: text(d, resource.SecretUsername), Password: text(d, resource.SecretPassword)},
		Local:      text(d, nextLocal), Drop: resource.DropOld(text(d, nextDrop)), Change: text(d, nextChange),
	}
	if text(d, nextUsername) != "" {
		c.Next = &resource.BMCAccount{Username: text(d, nextUsername), Password: text(d, nextPassword)}
	}
	return c
}

// promoted is the data once next is the account.
func promoted(d resource.SecretData) resource.SecretData {
	out := resource.SecretData{resource.SecretUsername: d[nextUsername], resource.SecretPassword: d[nextPassword]}
	if text(d, resource.SecretUsername) != "" {
		out[formerUsername], out[formerPassword] = d[resource.SecretUsername], d[resource.SecretPassword]
	}
	return out
}

// only is the account in use, with nothing else.
func only(d resource.SecretData) resource.SecretData {
	out := maps.Clone(d)
	maps.DeleteFunc(out, func(name string, _ resource.Plain) bool {
		return name != resource.SecretUsername && name != resource.SecretPassword
	})
	return out
}
