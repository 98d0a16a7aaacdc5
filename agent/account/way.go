package account

import (
	"fmt"

	"rackboot/bmc"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Way is how a system is reached.
type Way struct {
	Target  bmc.Target
	Account string // what refused credentials are remembered by
	Made    string // what a driver is made from: another one needs another driver
}

// Way reads the credentials of a BMC. name stands in the driver's logs. An error has its condition.
func (r *Room) Way(name string, in message.BMCIntent, systemURI string) (Way, error) {
	creds, stamp, err := r.Credentials(in)
	if err != nil {
		return Way{}, resource.AsCondition(unreadable(in), err)
	}
	in.Sealed = nil // the stamp stands for it: sealed anew it is the same account
	account := fmt.Sprintf("%v %s", in, stamp)
	return Way{
		Target: bmc.Target{
			Server: name, Address: in.Address, SystemURI: systemURI,
			Fingerprint: in.Fingerprint, CA: []byte(in.CA), LegacyTLS: in.LegacyTLS, Credentials: creds,
		},
		Account: account, Made: account + " " + systemURI,
	}, nil
}

// unreadable names credentials that cannot be read by whose they are: a file of the agent's host, or
// what the hub sealed.
func unreadable(in message.BMCIntent) resource.ConditionCode {
	if resource.SecretOf(in.CredentialsRef) != "" {
		return resource.CondCredentialsSealed
	}
	return resource.CondBMCCredentials
}
