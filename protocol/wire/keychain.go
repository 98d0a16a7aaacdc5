package wire

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// MaxStatements bounds a chain of key statements: one for each week of ten years.
const MaxStatements = 512

// Keys are the hub's keys as somebody knows them, with the chain of sealed statements
// that leads there. The zero value knows none.
type Keys struct {
	Everyday    ed25519.PublicKey `json:"everyday"`
	Destructive ed25519.PublicKey `json:"destructive,omitempty"`
	Statements  [][]byte          `json:"statements,omitempty"`
}

// offer is how a chain that is offered compares with the one that was followed.
type offer string

const (
	offerSame   offer = "same"
	offerLonger offer = "longer" // begins with it
	offerBehind offer = "behind" // is its beginning
	offerOther  offer = "other"  // has another statement at some place
)

func compare(known, offered [][]byte) offer {
	for i := range min(len(known), len(offered)) {
		if !bytes.Equal(known[i], offered[i]) {
			return offerOther
		}
	}
	switch {
	case len(offered) > len(known):
		return offerLonger
	case len(offered) < len(known):
		return offerBehind
	}
	return offerSame
}

// link is how the next statement of a chain fits onto what was followed so far.
type link string

const (
	linkFits  link = "fits"
	linkGap   link = "gap"   // its number or the one before it is another
	linkFork  link = "fork"  // it takes over from another key than the present one
	linkForm  link = "form"  // no key, or a role that is not known
	linkAlien link = "alien" // the key that had to sign it did not
)

// follow decides about a chain, link by link. The first row that fits decides.
//
//	chain  | link  | verdict
//	same   | *     | keep
//	behind | *     | rollback
//	other  | *     | fork
//	longer | fits  | take
//	longer | gap   | gap
//	longer | fork  | fork
//	longer | form  | malformed
//	longer | alien | forged
func follow(o offer, l link) string {
	switch o {
	case offerSame:
		return "keep"
	case offerBehind:
		return "rollback"
	case offerOther:
		return "fork"
	case offerLonger:
	}
	switch l {
	case linkFits:
		return "take"
	case linkGap:
		return "gap"
	case linkFork:
		return "fork"
	case linkForm:
		return "malformed"
	default:
		return "forged"
	}
}

// Follow takes over what a longer chain says, from the keys that are known. It is all
// or nothing: after an error, whose code is denied, k stays what it was. An offer
// without any statement to somebody who has followed none is the same chain.
func (k Keys) Follow(offered [][]byte) (Keys, error) {
	const op = "follow key statements"
	refuse := func(at int, verdict string) (Keys, error) {
		return k, protocol.Errorf(protocol.CodeDenied, op, "statement %d of the hub's keys: %s", at+1, verdict).
			WithHint("the hub was restored from a copy that is older than its keys, or somebody forges them; restore its folder pki")
	}
	if len(offered) > MaxStatements {
		return refuse(MaxStatements, fmt.Sprintf("there are %d, more than %d", len(offered), MaxStatements))
	}
	o := compare(k.Statements, offered)
	if o != offerLonger {
		if v := follow(o, ""); v != "keep" {
			return refuse(min(len(k.Statements), len(offered)), v)
		}
		return k, nil
	}
	next := k
	for i := len(k.Statements); i < len(offered); i++ {
		m, l := next.fit(offered[:i], offered[i])
		if v := follow(o, l); v != "take" {
			return refuse(i, v)
		}
		if m.Role == message.KeyDestructive {
			next.Destructive = m.Key
		} else {
			next.Everyday = m.Key
		}
	}
	next.Statements = offered
	return next, nil
}

// PinKeys makes the keys of somebody who was given the present everyday key by the hub
// itself, with the chain that leads to it. Errors: denied if it does not.
func PinKeys(everyday ed25519.PublicKey, statements [][]byte) (Keys, error) {
	first := everyday
	for _, s := range statements {
		var m message.KeyStatement
		e, err := Inspect(s)
		if err == nil {
			err = e.codec.dec.Unmarshal(e.payload, &m) // verified below
		}
		if err != nil {
			return Keys{}, protocol.Errorf(protocol.CodeDenied, "pin keys", "a statement of the hub's keys cannot be read: %w", err)
		}
		if m.Role == message.KeyEveryday {
			first = m.Replaces
			break
		}
	}
	k, err := (Keys{Everyday: first}).Follow(statements)
	if err == nil && !bytes.Equal(k.Everyday, everyday) {
		err = protocol.Errorf(protocol.CodeDenied, "pin keys", "the statements of the hub's keys lead to another key than the one that it gave")
	}
	return k, err
}

// fit opens one statement and says how it fits.
func (k Keys) fit(before [][]byte, sealed []byte) (m message.KeyStatement, l link) {
	signers := NewVerifier(k.Everyday, k.Destructive)
	if err := Open(signers, FactKey, sealed, &m); err != nil {
		return m, linkAlien
	}
	previous := ""
	if n := len(before); n > 0 {
		previous = Digest(before[n-1])
	}
	var now ed25519.PublicKey
	switch m.Role {
	case message.KeyEveryday:
		now = k.Everyday
	case message.KeyDestructive:
		now = k.Destructive
	default:
		return m, linkForm
	}
	signer := now
	if len(now) == 0 {
		signer = k.Everyday // of the first destructive key
	}
	switch {
	case len(m.Key) != ed25519.PublicKeySize:
		return m, linkForm
	case Open(NewVerifier(signer), FactKey, sealed, &m) != nil:
		return m, linkAlien // by the key of the other role
	case m.Number != uint64(len(before))+1 || m.Previous != previous:
		return m, linkGap
	case !bytes.Equal(m.Replaces, now):
		return m, linkFork
	}
	return m, linkFits
}

// State makes the next statement: key takes over in its role. signer is the one that
// the chain asks for. Errors are those of [Seal], and denied if another key signs.
func (k Keys) State(signer *Signer, m message.KeyStatement) (Keys, error) {
	m.Number, m.Previous = uint64(len(k.Statements))+1, ""
	if n := len(k.Statements); n > 0 {
		m.Previous = Digest(k.Statements[n-1])
	}
	m.Replaces = k.Everyday
	if m.Role == message.KeyDestructive {
		m.Replaces = k.Destructive
	}
	sealed, err := Seal(signer, FactKey, m)
	if err != nil {
		return k, err
	}
	return k.Follow(append(slices.Clip(k.Statements), sealed))
}
