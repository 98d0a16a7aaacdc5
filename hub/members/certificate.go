package members

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// certificate is what the hub keeps of an agent's last one.
type certificate struct {
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	// Trust is the digest of what the agent said that it trusts.
	Trust string `json:"trust,omitempty"`
}

func certificateKey(agent string) string { return "cert-" + agent }

// certificateOf reads what is kept. Where there is nothing, the certificate is as old as
// the agent.
func (c *Room) certificateOf(a *resource.Agent) certificate {
	raw, _, err := c.cfg.Meta.Get(certificateKey(a.Metadata.Name))
	var k certificate
	if err == nil && json.Unmarshal(raw, &k) == nil {
		return k
	}
	if a.Metadata.CreatedAt != nil {
		k.NotBefore = *a.Metadata.CreatedAt
		k.NotAfter = k.NotBefore.Add(certificateLife)
	}
	return k
}

// certifiedTries bounds how often a record is written again after somebody else wrote
// it.
const certifiedTries = 4

// certified changes the record of an agent's certificate.
func (c *Room) certified(ctx context.Context, agent string, change func(*certificate)) error {
	for try := 1; ; try++ {
		raw, revision, err := c.cfg.Meta.Get(certificateKey(agent))
		if err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
			return err
		}
		var k certificate
		if err == nil {
			_ = json.Unmarshal(raw, &k) // what cannot be read is written anew
		}
		was := k
		if change(&k); k == was && revision > 0 {
			return nil
		}
		if raw, err = json.Marshal(k); err != nil {
			return err
		}
		if err = c.cfg.Meta.Put(ctx, certificateKey(agent), raw, revision); protocol.CodeOf(err) != protocol.CodeConflict || try == certifiedTries {
			return err
		}
	}
}

// issued is the record of a certificate that was just made. The authority may have
// given it a shorter life than was asked for.
func (c *Room) issued(certPEM []byte) certificate {
	now := c.cfg.Clock()
	k := certificate{NotBefore: now, NotAfter: now.Add(c.cfg.CertificateLife)}
	if block, _ := pem.Decode(certPEM); block != nil {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			k.NotAfter = cert.NotAfter
		}
	}
	return k
}
