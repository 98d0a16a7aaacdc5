package chip

import (
	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"

	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
)

// Where a TPM has the certificates of its endorsement keys of the low range (TCG EK Credential
// Profile 2.5 section 2.2.1.4).
const (
	indexRSA tpm2.TPMHandle = 0x01c00002
	indexECC tpm2.TPMHandle = 0x01c0000a
)

const (
	maxCertificate = 8 << 10
	readAtOnce     = 512 // every TPM gives as much
)

// endorsement is one that a TPM may have.
type endorsement struct {
	template    tpm2.TPMTPublic
	certificate []byte
}

// endorsement chooses the key that has a certificate; of P-256 first, which takes a discrete TPM
// less than a second and not ten.
func (c *Chip) endorsement() endorsement {
	if der := c.stored(indexECC); der != nil {
		return endorsement{tpm2.ECCEKTemplate, der}
	}
	if der := c.stored(indexRSA); der != nil {
		return endorsement{tpm2.RSAEKTemplate, der}
	}
	return endorsement{template: tpm2.ECCEKTemplate}
}

// Offer is what the machine says of its TPM. The error is unavailable.
func (c *Chip) Offer() (enrol.Offer, error) {
	const op = "read the keys of the TPM"
	by := c.endorsement()
	out := enrol.Offer{Certificate: by.certificate}
	for _, k := range []struct {
		template tpm2.TPMTPublic
		area     *[]byte
	}{{by.template, &out.Endorsement}, {enrol.AttestationTemplate(), &out.Attestation}} {
		p, err := c.primary(k.template)
		if err != nil {
			return enrol.Offer{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
		}
		*k.area = p.area
		c.release(p)
	}
	return out, nil
}

// Activate answers a challenge for the keys of Offer. The error is denied where the TPM is not the one that
// was challenged, else unavailable.
func (c *Chip) Activate(ch enrol.Challenge) (enrol.Answer, error) {
	const op = "answer the challenge of the TPM"
	key, err := c.primary(c.endorsement().template)
	if err != nil {
		return enrol.Answer{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer c.release(key)
	signing, err := c.primary(enrol.AttestationTemplate())
	if err != nil {
		return enrol.Answer{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer c.release(signing)
	rsp, err := tpm2.ActivateCredential{
		ActivateHandle: signing.NamedHandle,
		KeyHandle:      tpm2.AuthHandle{Handle: key.Handle, Name: key.Name, Auth: tpm2.Policy(tpm2.TPMAlgSHA256, 16, byHierarchy)},
		CredentialBlob: tpm2.TPM2BIDObject{Buffer: ch.Blob}, Secret: tpm2.TPM2BEncryptedSecret{Buffer: ch.Seed},
	}.Execute(c.tpm)
	if err != nil {
		return enrol.Answer{}, protocol.Errorf(protocol.CodeDenied, op, "%w", err)
	}
	return enrol.Answer{Secret: rsp.CertInfo.Buffer}, nil
}

// byHierarchy is the policy of endorsement keys: the hierarchy's secret, which is empty where nobody set one.
func byHierarchy(t transport.TPM, session tpm2.TPMISHPolicy, nonce tpm2.TPM2BNonce) error {
	_, err := tpm2.PolicySecret{
		AuthHandle:    tpm2.AuthHandle{Handle: tpm2.TPMRHEndorsement, Auth: tpm2.PasswordAuth(nil)},
		PolicySession: session, NonceTPM: nonce,
	}.Execute(t)
	return err
}

// loaded is a primary key in the TPM, and its area.
type loaded struct {
	tpm2.NamedHandle
	area []byte
}

func (c *Chip) primary(template tpm2.TPMTPublic) (loaded, error) {
	rsp, err := tpm2.CreatePrimary{PrimaryHandle: tpm2.TPMRHEndorsement, InPublic: tpm2.New2B(template)}.Execute(c.tpm)
	if err != nil {
		return loaded{}, err
	}
	return loaded{tpm2.NamedHandle{Handle: rsp.ObjectHandle, Name: rsp.Name}, rsp.OutPublic.Bytes()}, nil
}

// release takes a key out of the TPM, which has room for three.
func (c *Chip) release(k loaded) {
	_, _ = tpm2.FlushContext{FlushHandle: k.Handle}.Execute(c.tpm) // the resource manager does it at Close
}

// stored reads an NV index that everybody may read; nil where it is not there, or cannot be read.
func (c *Chip) stored(index tpm2.TPMHandle) []byte {
	public, err := tpm2.NVReadPublic{NVIndex: index}.Execute(c.tpm)
	if err != nil {
		return nil
	}
	info, err := public.NVPublic.Contents()
	if err != nil || info.DataSize == 0 || info.DataSize > maxCertificate {
		return nil
	}
	var out []byte
	for len(out) < int(info.DataSize) {
		rsp, err := tpm2.NVRead{
			AuthHandle: tpm2.AuthHandle{Handle: index, Name: public.NVName, Auth: tpm2.PasswordAuth(nil)},
			NVIndex:    tpm2.NamedHandle{Handle: index, Name: public.NVName},
			Size:       min(readAtOnce, info.DataSize-uint16(len(out))), Offset: uint16(len(out)),
		}.Execute(c.tpm)
		if err != nil || len(rsp.Data.Buffer) == 0 {
			return nil
		}
		out = append(out, rsp.Data.Buffer...)
	}
	return out
}
