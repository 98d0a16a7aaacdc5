package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// knows reports whether a token is of the attempt.
func (a *Attempt) knows(token string) bool {
	return a != nil && token != "" && (a.Token == token || a.Private == token)
}

// Tokens are those of the attempt; none of nil.
func (a *Attempt) Tokens() (tokens []string) {
	if a != nil {
		for _, t := range []string{a.Token, a.Private} {
			if t != "" {
				tokens = append(tokens, t)
			}
		}
	}
	return tokens
}

// isPrivate reports whether a token is the one that went through the BMC.
func (a *Attempt) isPrivate(token string) bool { return a != nil && token != "" && a.Private == token }

// endangers reports whether somebody may have the server of an open attempt run what reads
// its config image. Once the agent has sent the file to its end, the server has that.
func (p Private) endangers(a *Attempt) bool {
	return p.Diverted != "" && a.Network() && a.Order.Through == ThroughMedium && !byMedium(a.Order.Target) && a.Stage.State != resource.AttemptFetched
}

// PrivateURL reports whether firmware has the URL of its file through its BMC only.
func (a *Attempt) PrivateURL() bool { return a != nil && a.Order.Through == ThroughURL }

// Chain is the attempt's, for who has a token of it: a kernel is told where its user data is
// fetched only where it is given it there.
func (a *Attempt) Chain(token string) protocol.BootChain {
	c := *a.Order.Chain
	c.Ignition = c.Ignition && a.TellsUserData(token)
	return c
}

// TellsUserData reports whether who has a token of the attempt may fetch its user data by it.
func (a *Attempt) TellsUserData(token string) bool {
	return a.Order.Secrets != resource.SecretsBMC || a.PrivateURL() && a.isPrivate(token)
}

// class is how strong the evidence of a report is.
func (a *Attempt) class(e Event) resource.EvidenceClass {
	return classRule(a.isPrivate(e.Token), e.Attested && a.forDiscovery())
}

// classRule is the table of evidence. The first row that fits decides.
//
//	private | attested | class
//	no      | *        | reported
//	yes     | no       | observed
//	yes     | yes      | attested
//
// private is that the report came by the token that went through the BMC: a TPM proves what its machine booted, and not
// that the machine is this server.
func classRule(private, attested bool) resource.EvidenceClass {
	switch {
	case !private:
		return resource.EvidenceReported
	case !attested:
		return resource.EvidenceObserved
	}
	return resource.EvidenceAttested
}
