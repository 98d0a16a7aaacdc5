package tpm

import (
	"encoding/binary"
	"fmt"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/seal"
)

// loaded is a primary key in the TPM, and its area.
type loaded struct {
	tpm2.NamedHandle
	area []byte
}

// primary makes a primary key of the endorsement hierarchy.
func (c *chip) primary(template tpm2.TPMTPublic) loaded {
	c.t.Helper()
	rsp, err := tpm2.CreatePrimary{PrimaryHandle: tpm2.TPMRHEndorsement, InPublic: tpm2.New2B(template)}.Execute(c)
	if err != nil {
		c.t.Fatal(err)
	}
	return loaded{tpm2.NamedHandle{Handle: rsp.ObjectHandle, Name: rsp.Name}, rsp.OutPublic.Bytes()}
}

// release takes a key out of the TPM, which has room for three.
func (c *chip) release(k loaded) {
	c.t.Helper()
	if _, err := (tpm2.FlushContext{FlushHandle: k.Handle}).Execute(c); err != nil {
		c.t.Fatal(err)
	}
}

// signingRSA is the template of an attestation key of RSA.
func signingRSA() tpm2.TPMTPublic {
	return tpm2.TPMTPublic{
		Type: tpm2.TPMAlgRSA, NameAlg: tpm2.TPMAlgSHA256, ObjectAttributes: enrol.AttestationTemplate().ObjectAttributes,
		Parameters: tpm2.NewTPMUPublicParms(tpm2.TPMAlgRSA, &tpm2.TPMSRSAParms{
			Scheme: tpm2.TPMTRSAScheme{
				Scheme:  tpm2.TPMAlgRSASSA,
				Details: tpm2.NewTPMUAsymScheme(tpm2.TPMAlgRSASSA, &tpm2.TPMSSigSchemeRSASSA{HashAlg: tpm2.TPMAlgSHA256}),
			},
			KeyBits: 2048,
		}),
	}
}

// endorsementPolicy is that of endorsement keys: PolicySecret of the hierarchy.
func endorsementPolicy(t transport.TPM, session tpm2.TPMISHPolicy, nonce tpm2.TPM2BNonce) error {
	_, err := tpm2.PolicySecret{
		AuthHandle:    tpm2.AuthHandle{Handle: tpm2.TPMRHEndorsement, Auth: tpm2.PasswordAuth(nil)},
		PolicySession: session, NonceTPM: nonce,
	}.Execute(t)
	return err
}

func (k loaded) byPolicy() tpm2.AuthHandle {
	return tpm2.AuthHandle{Handle: k.Handle, Name: k.Name, Auth: tpm2.Policy(tpm2.TPMAlgSHA256, 16, endorsementPolicy)}
}

// activate answers a challenge.
func (c *chip) activate(endorsement, attestation loaded, ch enrol.Challenge) ([]byte, error) {
	rsp, err := tpm2.ActivateCredential{
		ActivateHandle: attestation.NamedHandle, KeyHandle: endorsement.byPolicy(),
		CredentialBlob: tpm2.TPM2BIDObject{Buffer: ch.Blob}, Secret: tpm2.TPM2BEncryptedSecret{Buffer: ch.Seed},
	}.Execute(c)
	if err != nil {
		return nil, err
	}
	return rsp.CertInfo.Buffer, nil
}

// stored reads an NV index, which the owner may read.
func (c *chip) stored(index tpm2.TPMHandle) []byte {
	c.t.Helper()
	public, err := tpm2.NVReadPublic{NVIndex: index}.Execute(c)
	if err != nil {
		c.t.Fatal(err)
	}
	info, err := public.NVPublic.Contents()
	if err != nil {
		c.t.Fatal(err)
	}
	var out []byte
	for len(out) < int(info.DataSize) {
		rsp, err := tpm2.NVRead{
			AuthHandle: tpm2.AuthHandle{Handle: index, Name: public.NVName, Auth: tpm2.PasswordAuth(nil)},
			NVIndex:    tpm2.NamedHandle{Handle: index, Name: public.NVName},
			Size:       min(512, info.DataSize-uint16(len(out))), Offset: uint16(len(out)),
		}.Execute(c)
		if err != nil {
			c.t.Fatal(err)
		}
		out = append(out, rsp.Data.Buffer...)
	}
	return out
}

// extend extends a PCR of SHA-256.
func (c *chip) extend(pcr int, digest []byte) {
	c.t.Helper()
	_, err := tpm2.PCRExtend{
		PCRHandle: tpm2.AuthHandle{Handle: tpm2.TPMHandle(pcr), Auth: tpm2.PasswordAuth(nil)},
		Digests:   tpm2.TPMLDigestValues{Digests: []tpm2.TPMTHA{{HashAlg: tpm2.TPMAlgSHA256, Digest: digest}}},
	}.Execute(c)
	if err != nil {
		c.t.Fatal(err)
	}
}

// boot extends the PCRs by what firmware measured.
func (c *chip) boot(log *eventlog.Log) {
	c.t.Helper()
	for _, e := range log.Events {
		if e.Extended() {
			c.extend(e.PCR, e.Digest(eventlog.SHA256))
		}
	}
}

// read returns PCRs of SHA-256.
func (c *chip) read(pcrs []int) map[int][]byte {
	c.t.Helper()
	out := map[int][]byte{}
	for _, pcr := range pcrs { // a TPM gives eight at once
		rsp, err := tpm2.PCRRead{PCRSelectionIn: selection(pcr)}.Execute(c)
		if err != nil || len(rsp.PCRValues.Digests) != 1 {
			c.t.Fatalf("PCR %d: %v", pcr, err)
		}
		out[pcr] = rsp.PCRValues.Digests[0].Buffer
	}
	return out
}

func selection(pcrs ...int) tpm2.TPMLPCRSelection {
	values := map[int][]byte{}
	for _, pcr := range pcrs {
		values[pcr] = nil
	}
	return seal.Policy{Bank: eventlog.SHA256, Values: values}.Selection()
}

// quote has the TPM quote PCRs.
func (c *chip) quote(key loaded, nonce []byte, pcrs []int) (quote, signature []byte) {
	c.t.Helper()
	rsp, err := tpm2.Quote{
		SignHandle:     tpm2.AuthHandle{Handle: key.Handle, Name: key.Name, Auth: tpm2.PasswordAuth(nil)},
		QualifyingData: tpm2.TPM2BData{Buffer: nonce}, PCRSelect: selection(pcrs...),
	}.Execute(c)
	if err != nil {
		c.t.Fatal(err)
	}
	return rsp.Quoted.Bytes(), tpm2.Marshal(rsp.Signature)
}

// open imports what was sealed below the key, and unseals it under the policy.
func (c *chip) open(parent loaded, s seal.Sealed, p seal.Policy) ([]byte, error) {
	public := tpm2.BytesAs2B[tpm2.TPMTPublic](s.Public)
	imported, err := tpm2.Import{
		ParentHandle: parent.byPolicy(), ObjectPublic: public,
		Duplicate: tpm2.TPM2BPrivate{Buffer: s.Duplicate}, InSymSeed: tpm2.TPM2BEncryptedSecret{Buffer: s.Seed},
	}.Execute(c)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	object, err := tpm2.Load{ParentHandle: parent.byPolicy(), InPrivate: imported.OutPrivate, InPublic: public}.Execute(c)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	defer func() { _, _ = tpm2.FlushContext{FlushHandle: object.ObjectHandle}.Execute(c) }() // the test ends with it
	policy := func(t transport.TPM, session tpm2.TPMISHPolicy, _ tpm2.TPM2BNonce) error {
		if _, err := (tpm2.PolicyPCR{PolicySession: session, Pcrs: p.Selection()}).Execute(t); err != nil || p.Resets == nil {
			return err
		}
		return policyResets(t, session, *p.Resets)
	}
	rsp, err := tpm2.Unseal{ItemHandle: tpm2.AuthHandle{Handle: object.ObjectHandle, Name: object.Name, Auth: tpm2.Policy(tpm2.TPMAlgSHA256, 16, policy)}}.Execute(c)
	if err != nil {
		return nil, fmt.Errorf("unseal: %w", err)
	}
	return rsp.OutData.Buffer, nil
}

// policyResets is TPM2_PolicyCounterTimer (part 3 section 23.10), which the library does not have.
func policyResets(t transport.TPM, session tpm2.TPMISHPolicy, resets uint32) error {
	be := binary.BigEndian
	args := be.AppendUint32(nil, session.HandleValue())
	args = be.AppendUint32(be.AppendUint16(args, 4), resets)
	args = be.AppendUint16(be.AppendUint16(args, seal.ResetsOffset), seal.Equal)
	command := be.AppendUint32(be.AppendUint32([]byte{0x80, 0x01}, uint32(10+len(args))), uint32(tpm2.TPMCCPolicyCounterTimer))
	rsp, err := t.Send(append(command, args...))
	if err != nil {
		return err
	}
	if len(rsp) < 10 {
		return fmt.Errorf("an answer of %d bytes", len(rsp))
	}
	if code := be.Uint32(rsp[6:]); code != 0 {
		return tpm2.TPMRC(code)
	}
	return nil
}
