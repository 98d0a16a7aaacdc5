package wire

import (
	"bytes"
	"crypto/ed25519"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const exampleDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func provisioned() *resource.Provisioned {
	return &resource.Provisioned{
		OwnerUID: "01j0claim", Generation: 1, Server: "server-1", ServerUID: "01j0server", ImageDigest: exampleDigest,
		Evidence: protocol.EvidenceInstalled, At: at(7), Attempt: "a1", Class: resource.EvidenceObserved, Secrets: resource.SecretsBMC,
	}
}

func receipt() *resource.Receipt {
	return &resource.Receipt{
		HoldID: "01j0hold", Server: "server-1", Agent: "rack-1", Key: "node/7", Ref: "uid 7", EnforcedAt: at(1), PowerEpoch: 4,
		StoppedSince: at(2), FirstRead: at(3), ConfirmedAt: at(8), Reads: 3, Settle: 5 * time.Second,
		Run: "7a11", LongestGap: 2500 * time.Millisecond, GapBound: 48 * time.Second, OnWaited: 2 * time.Minute,
	}
}

func bareApplied() *message.Applied {
	return &message.Applied{
		Doc: "hold", Head: protocol.Head{Epoch: 1, Version: 7}, Digest: exampleDigest, Released: []string{"01j0hold"},
		Rejected: []message.Rejection{{Server: "server-2", Reason: "power \"Maybe\" is unknown to this agent"}},
	}
}

func bareReport() *message.Report {
	since := at(2)
	return &message.Report{
		Agent: "rack-1", Rack: "rack", Incarnation: "1nca", Session: "5e55", Seq: 3, At: at(9), Version: "1.0.0", Shards: 1,
		Applied: map[string]protocol.Head{"hold": {Epoch: 1, Version: 7}},
		Servers: []resource.ServerReport{{
			Server: "server-1", PowerEpoch: 4, StoppedSince: &since, OwnerUID: "01j0claim", ArtefactsLocal: true,
			Observation: protocol.Observation{Server: "server-1", StartedAt: at(8), ReadAt: at(9), Source: protocol.SourcePoll, Power: protocol.PowerOff},
			Attempt:     &resource.AttemptReport{ID: "a1", State: resource.AttemptSucceeded, Since: at(1), Number: 1, Intended: protocol.TargetHdd, Observed: protocol.TargetHdd, Class: resource.EvidenceObserved, Secrets: resource.SecretsBMC, OwnerUID: "01j0claim", Generation: 1},
			Holds:       []resource.HoldReport{{ID: "01j0hold", Word: resource.HoldFenced, EnforcedAt: at(1), Receipt: []byte{1, 2, 3}}},
			Requests:    []resource.RequestReport{{ID: "01j0req", Outcome: resource.OutcomeDone, At: at(4)}},
			Conditions:  []resource.ConditionState{{Code: resource.CondHeld, Since: at(1), Message: "by node/7"}},
		}},
	}
}

func approval() *resource.Approval {
	return &resource.Approval{
		ID: "01jaapproval", Class: resource.ApproveHoldOverride, Rack: "rack-a", AgentKey: agentKey(), Targets: []string{"01j0"},
		By: []string{"alice", "bob"}, Reason: "its owner is gone", NotBefore: at(0), NotAfter: at(1800),
	}
}

func approvalWipe() *resource.Approval {
	return &resource.Approval{
		ID: "01jawipe", Class: resource.ApproveWipe, Rack: "rack-a", AgentKey: agentKey(), Targets: []string{"server-1"},
		Boots: []resource.ApprovedBoot{{Server: "server-1", Owner: "01j0maintenance", BootEnv: "decommission", Image: exampleDigest, Settings: exampleDigest}},
		By:    []string{"alice"}, Reason: "decommission: sold", NotBefore: at(0), NotAfter: at(3600),
	}
}

func hubHead() *message.HubHead {
	return &message.HubHead{
		Store: "5t0re", Epoch: 1, Sequence: 90210, AuditSeq: 812, AuditHash: exampleDigest, At: at(0), Hub: fence().Hub,
		Kinds: map[string]message.HubSum{"res.holds": {Count: 3, Digest: unhex("00112233445566778899aabbccddeeff")}},
	}
}

func endOfTerm() *message.EndOfTerm {
	return &message.EndOfTerm{Agent: "rack-1", Term: 3, Code: resource.CondSuperseded, At: at(1)}
}

func keyStatement() *message.KeyStatement {
	return &message.KeyStatement{
		Number: 2, Role: message.KeyEveryday, Key: testKey(2).Public().(ed25519.PublicKey), Replaces: testKey(0).Public().(ed25519.PublicKey),
		Previous: exampleDigest, At: at(1),
	}
}

func renewal() *message.Renewal {
	return &message.Renewal{
		Agent: "rack-1", CSR: []byte("-----BEGIN CERTIFICATE REQUEST-----\n"), SealKey: bytes.Repeat([]byte{7}, 32), Trust: exampleDigest, At: at(2),
	}
}
