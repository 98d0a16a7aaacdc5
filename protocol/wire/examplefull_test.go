package wire

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// The examples have every field of every message, and the facts inside of them are
// sealed ones.

func fence() message.Fence { return message.Fence{Number: 4, Hub: "0b5e55ed0b5e55ed"} }

func heads() map[string]protocol.Head {
	return map[string]protocol.Head{"hold": {Epoch: 1, Version: 9}, "rack/0": {Epoch: 1, Version: 44}}
}

func digests() map[string]string {
	return map[string]string{"hold": exampleDigest, "rack/0": "sha256:" + strings.Repeat("ef", 32)}
}

func hello() *message.Hello {
	return &message.Hello{
		Agent: "rack-1", Session: "5e55", Incarnation: "1nca", Term: 3, Protocol: 1, Version: "0.2.0",
		Applied: heads(), EventHead: 12, EventTail: 10, At: at(0), Nonce: "a00a", Digests: digests(), Fence: fence(),
		Capabilities: message.Capabilities(), SealKey: unhex("1aac11d29c1ecbc96cad4ebe9e29c3b3c8ac7b5e69e3fff94ebd44faf8620f77"),
		Approvals: &resource.ApprovalStance{Keys: [][]byte{testKey(3).Public().(ed25519.PublicKey)}, BulkStop: 8, Window: 10 * time.Minute},
		Run:       "0a6e", Guard: true, Self: "5e1f", Host: "host-a", Addresses: []string{"192.0.2.7"}, StoreHead: storeHead(), HubHead: sealedFact(FactHubHead),
	}
}

func storeHead() message.StoreHead {
	return message.StoreHead{Store: "1nca", Sequence: 4711, Digest: unhex("0f1e2d3c4b5a69788796a5b4c3d2e1f0")}
}

func syncAnswer() *message.Sync {
	return &message.Sync{
		Session: "5e55", Protocol: 1, Heads: heads(), EventsAcked: 9, At: at(1), Nonce: "b00b", Digests: digests(),
		Epoch: 1, Fence: fence(), ValidFor: message.SyncValid, Trust: exampleDigest, Reported: []uint64{7, 0}, HubHead: sealedFact(FactHubHead),
	}
}

// syncAcks acknowledges events and says nothing of documents: Heads is null.
func syncAcks() *message.Sync {
	return &message.Sync{Session: "5e55", Protocol: 1, EventsAcked: 12, At: at(2), Nonce: "b00b", Epoch: 1, Fence: fence(), ValidFor: message.SyncValid}
}

func syncRefused() *message.Sync {
	return &message.Sync{Session: "5e55", Protocol: 1, At: at(1), Refused: resource.CondAgentReplaced, Epoch: 1, Fence: fence()}
}

func syncAgain() *message.Sync {
	return &message.Sync{Session: "5e55", Protocol: 1, At: at(1), Nonce: "c00c", Epoch: 1, Fence: fence(), Again: true}
}

func syncRenew() *message.Sync {
	s := syncAgain()
	s.Renew, s.Had = "1nca", 4711
	return s
}

func syncCopied() *message.Sync {
	s := syncAcks()
	s.Copied = &message.Copied{Incarnations: []string{"1nca"}, Kept: &message.Kept{Self: "5e1f", Incarnation: "2ncb"}}
	return s
}

func announce() *message.Announce {
	return &message.Announce{Hub: fence().Hub, Epoch: 1, At: at(0), Nonce: "a00a", Fence: fence(), Spread: 50 * time.Second}
}

func holdDoc() *message.HoldDoc {
	return &message.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: 9}, Agent: "rack-1", Term: 3, IssuedAt: at(0), Fence: fence(), Standby: true,
		Holds: []resource.ActiveHold{{ID: "01j1", HoldSpec: resource.HoldSpec{Server: "server-01", Owner: "cluster", HoldTerms: resource.HoldTerms{Key: "fence", Mode: resource.StopSoft, SoftTimeout: protocol.Duration(time.Minute), Ref: "ns/db-0"}}}, {
			ID:            "01j7",
			HoldSpec:      resource.HoldSpec{Server: "server-05", Owner: "cluster", HoldTerms: resource.HoldTerms{Key: "node/5", Mode: resource.StopHard, Reason: "split brain", TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease, ForceDuringFirmware: true}},
			ConfirmedDown: confirmed(),
		}},
		Releases: []resource.Release{{HoldID: "01j0", Server: "server-02", By: "admin", At: at(1), Reason: "its owner is gone"}},
		Requests: []resource.Request{
			{ID: "01j7", Server: "server-05", Action: resource.RequestResume, Mode: resource.StopSoft, By: "admin", NotAfter: at(30), Incarnation: "1nca", Why: "breaker reset", Retry: true, Cancelled: "ann"},
			{ID: "01j2", Server: "server-03", Action: resource.RequestReboot, Mode: resource.StopSoft, By: "admin", NotAfter: at(30), Incarnation: "1nca"},
			{
				ID: "01j4", Server: "server-04", Action: resource.RequestPowerOff, Mode: resource.StopHard, By: "admin", NotAfter: at(30),
				Precondition: resource.Precondition{Power: protocol.PowerOn, OwnerUID: "01j3"}, Incarnation: "1nca", AnyPhase: true, Ref: "ns/db-0",
			},
		},
		Approvals: [][]byte{sealedFact(FactApproval)},
	}
}

func confirmed() *resource.Confirmation {
	return &resource.Confirmation{By: "admin", Reason: "both power cords are out", At: at(2)}
}

func receiptManual() *resource.Receipt {
	return &resource.Receipt{
		HoldID: "01j7", Server: "server-05", Agent: "rack-1", Key: "node/5", EnforcedAt: at(1), PowerEpoch: 4, StoppedSince: at(2), ConfirmedAt: at(2),
		RestorePolicy: protocol.RestoreAlwaysOff, Manual: confirmed(),
	}
}

// rackDoc is a shard with a grant in the first entry, and the echo of a record
// that the first boot ended in the second. Shard 0 has the rack.
func rackDoc(shard, servers int) *message.RackDoc {
	doc := bareShard(servers)
	doc.Head.Version, doc.Fence, doc.Shard, doc.Shards = 44, fence(), shard, 2
	doc.Rack.AgentKeys = [][]byte{agentKey()}
	doc.Rack.Standby, doc.Rack.TakenOver, doc.Rack.Twin = true, []string{"rack-0"}, &message.TwinIntent{Agent: "rack-2", Key: agentKey()}
	doc.Rack.Keep = &message.KeepIntent{Always: []string{"sha256:" + strings.Repeat("c", 64)}, Older: []string{"sha256:" + strings.Repeat("d", 64)}}
	doc.Rack.Inrush = &message.InrushIntent{Servers: 10, FeedServers: 5, Window: 10 * time.Second}
	doc.Rack.Upgrade = &message.UpgradeIntent{Order: "01k5order", Manifest: []byte("(a sealed manifest)"), NotAfter: at(30)}
	doc.Rack.SafeStop = &message.SafeStopIntent{NetworkFirst: resource.NetworkFirstStopImage, PowerOffAfter: 30 * time.Minute, BelieveAfter: 10 * time.Minute}
	seg := &doc.Rack.Segments[0]
	seg.Role, seg.BMCPrefixes, seg.BMCMACs = resource.SegmentBoth, []string{"3c:ec:ef"}, []string{"3c:ec:ef:00:00:01"}
	seg.Try = "2"
	seg.Scan = []netip.Prefix{netip.MustParsePrefix("10.7.0.128/26")}
	self := doc.Rack.Segments[0].Address
	seg.Service = &resource.ServiceIntent{
		Mode: resource.ServiceReservations, Authoritative: true, Domain: "rack.example", Search: []string{"rack.example"}, NTP: []netip.Addr{self},
		Reservations: []resource.Reservation{{Address: "10.7.0.9", MAC: "52:54:00:00:00:09", UUID: "4c4c4544-0031-3510-8031-b4c04f435331", Port: "leaf-1/7"}},
		Routes:       []resource.RouteIntent{{To: netip.MustParsePrefix("10.8.0.0/16"), Via: self}},
	}
	self6 := netip.MustParseAddr("2001:db8:7::1")
	seg.IPv6 = &resource.SegmentIPv6Intent{
		Mode: resource.IPv6Stateful, Prefix: netip.MustParsePrefix("2001:db8:7::/64"), Address: self6, DNS: []netip.Addr{self6},
		PoolFrom: netip.MustParseAddr("2001:db8:7::1000"), PoolTo: netip.MustParseAddr("2001:db8:7::1fff"),
		BaseURL: "http://[2001:db8:7::1]", LeaseTime: time.Hour, RapidCommit: true,
	}
	doc.Rack.Segments[0].Routers, doc.Rack.Segments[0].DNS = []netip.Addr{self}, []netip.Addr{self}
	if shard > 0 {
		doc.Rack = nil
	}
	for i := range doc.Servers {
		doc.Servers[i].MACs = []string{fmt.Sprintf("52:54:00:00:01:%02x", i)}
	}
	first := &doc.Servers[0]
	first.Server, first.UID, first.Owner.UID = "server-01", grant().ServerUID, grant().OwnerUID
	first.Boot.Owner.UID, first.Boot.BootPolicy.FirstBoot = grant().OwnerUID, grant().FirstBoot
	first.Owner.Kind, first.PowerCycle, first.Boot.BootPolicy.OSReboot = resource.PurposeClaim, true, resource.OSRebootRearm
	first.Boot.BootPolicy.Network = resource.NetworkAny
	first.Identity, first.ForgetTPM, first.Discovery = exampleDigest, "9f86d081884c7d65", resource.DiscoveryWanted
	first.Boot.Timeout = 30 * time.Minute
	first.Boot.Image.CommandLine = "console=ttyS0 quiet"
	first.Boot.Image.BootImage, first.Boot.Image.Source = "os-42-1", resource.ImageFromHub
	first.BMC.CredentialsRef, first.BMC.Sealed = "secret:bmc", sealed()
	first.Boot.Grant, first.Boot.GrantFor = sealedFact(FactGrant), "1nca"
	first.Boot.Ignition = &message.IgnitionIntent{Secret: "node", UID: "01j5secret", Version: 2, Digest: exampleDigest, Sealed: exampleDigest, Size: 2048}
	first.Boot.Env = &message.EnvIntent{
		Name: "debian-12-install", Bundle: exampleDigest, Sealed: exampleDigest, Size: 8192,
		ISOs: []resource.EnvISO{{File: "debian-12.iso", Digest: exampleDigest, Size: 700 << 20, Uploaded: exampleDigest}}, Images: []resource.Image{first.Boot.Image},
	}
	first.Boot.Fallback = &message.BootFallback{
		After:       3,
		GrantedBoot: resource.GrantedBoot{Generation: 2, GrantFor: "1nca", BootSpec: resource.BootSpec{Image: first.Boot.Image, BootPolicy: first.Boot.BootPolicy, Grant: first.Boot.Grant}},
		Ignition:    first.Boot.Ignition,
	}
	if servers > 1 {
		doc.Servers[1].DisablePowerOff, doc.Servers[1].KeepPowerRestorePolicy = true, true
		doc.Servers[1].Settings = &message.SettingsIntent{Want: []resource.FirmwareWanted{wantedOrder()}}
		doc.Servers[1].Firmware = &resource.FirmwareWork{By: "admin", Reason: "BIOS 2.4", Since: at(0), NotAfter: at(30)}
		doc.Servers[1].Feed = "a"
		doc.Servers[1].Frozen = &resource.Frozen{Name: "row-7", By: "admin", Reason: "smoke", Since: at(0), Until: new(at(45))}
		doc.Servers[1].Boot.Reach, doc.Servers[1].Boot.Secrets, doc.Servers[1].Boot.RequireEvidence = resource.ReachURI, resource.SecretsBMC, resource.EvidenceObserved
		doc.Servers[1].Boot.Adopted = &resource.Adopted{ImageDigest: exampleDigest, By: "admin", Reason: "moved from another hub", At: at(2), Key: "0011223344556677"}
		doc.Servers[1].Boot.Provisioned, doc.Servers[1].Releasing = sealedFact(FactProvisioned), true
		doc.Servers[1].BMC.LegacyTLS = true
		doc.Servers[1].BMC.Fingerprint, doc.Servers[1].BMC.CA = "", "-----BEGIN CERTIFICATE-----\n(PEM)\n-----END CERTIFICATE-----\n"
	}
	return doc
}

// grantRepeat is of a maintenance.
func grantRepeat() *message.Grant {
	g := grant()
	g.Purpose, g.Repeat = resource.PurposeMaintenance, true
	return g
}

// grantOver is of a roll-out.
func grantOver() *message.Grant {
	g := grant()
	g.Generation, g.Over = 2, true
	g.Network = resource.NetworkAny
	return g
}

func applied() *message.Applied {
	a := bareApplied()
	a.Head.Version, a.Nonce, a.Fence, a.StoreHead = 9, "b00b", fence(), storeHead()
	return a
}

func appliedRefused() *message.Applied {
	return &message.Applied{
		Doc: "rack/0", Head: protocol.Head{Epoch: 1, Version: 45}, Digest: exampleDigest,
		Refused: "fence 3 of hub 0123456789abcdef is lower than 4, which was followed", Nonce: "b00b", Fence: fence(),
	}
}

// reportReads says how old reads are.
func reportReads() *message.Report {
	return &message.Report{
		Agent: "rack-1", Rack: "rack-1", Incarnation: "1nca", Run: "7a11", Session: "s2", Seq: 3, At: at(20), Version: "0.3.0", Applied: heads(), Shards: 1, Nonce: "b00b", Fence: fence(),
		Servers: []resource.ServerReport{
			{
				Server: "server-1", ReadAge: 12 * time.Second, PowerEpoch: 2,
				Observation: protocol.Observation{Server: "server-1", StartedAt: at(19), ReadAt: at(19), Source: protocol.SourcePoll, Power: protocol.PowerOff},
			},
			{Server: "server-2", Observation: protocol.Observation{}},
		},
	}
}

// reportChanges says what has changed since reportReads.
func reportChanges() *message.Report {
	return &message.Report{
		Agent: "rack-1", Rack: "rack-1", Incarnation: "1nca", Session: "s2", Seq: 8, At: at(30), Version: "0.3.0", Applied: heads(), Shards: 1, Nonce: "b00b", Fence: fence(),
		As: 3, Reads: []message.Read{{Age: 4 * time.Second, Took: 800 * time.Millisecond}, {}},
		Servers: []resource.ServerReport{{
			Server: "server-1", ReadAge: 4 * time.Second, PowerEpoch: 3,
			Observation: protocol.Observation{Server: "server-1", StartedAt: at(26), ReadAt: at(26), Source: protocol.SourcePoll, Power: protocol.PowerOn},
		}},
		Revisions: []uint64{8}, Digest: message.ShardDigest(func(yield func(string, uint64) bool) { _ = yield("server-1", 8) && yield("server-2", 3) }),
	}
}

// reportAs stands for report.
func reportAs() *message.Report {
	return &message.Report{
		Agent: "rack-1", Rack: "rack-1", Incarnation: "1nca", Session: "s2", Seq: 9, At: at(40), Version: "0.3.0", Applied: heads(), Shards: 1, Nonce: "b00b", Fence: fence(),
		As: 3, Reads: []message.Read{{Age: 4 * time.Second, Took: 800 * time.Millisecond}, {}},
	}
}

// report has a hold that the hub's document does not name any more, and a server
// whose BMC does not answer.
func report() *message.Report {
	r := bareReport()
	r.StoreHead, r.Metrics = storeHead(), "rack-1.example.com:9641"
	r.Version, r.Nonce, r.Fence, r.Applied, r.Shard, r.Shards = "0.2.0", "b00b", fence(), heads(), 1, 2
	r.Found = []resource.FoundBMC{foundBMC()}
	r.Beats = []message.HeardBeat{{Segment: "boot", For: time.Hour, Ago: time.Second}}
	s := &r.Servers[0]
	s.Observation.Override = protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce, Mode: "UEFI"}
	s.Observation.BootProgress, s.Observation.LastResetTime = "OSRunning", "2026-11-20T09:58:00Z"
	s.Observation.OEMProgress, s.Observation.SystemState, s.Observation.PowerLog = "UEFI", "Enabled", "P7 2026-11-20T09:58:00Z"
	s.Observation.Fault = protocol.BMCFault{Kind: protocol.FaultSessions, Status: 403, MessageID: "Base.1.13.SessionLimitExceeded", Text: "no session is left"}
	s.Observation.Order = protocol.BMCFault{Kind: protocol.FaultTask, MessageID: "Base.1.13.InternalError", Text: "the power sequencer did not answer", Reset: "On"}
	s.Attempt.Stored, s.Attempt.Evidence = s.Observation.Override, protocol.EvidenceInstalled
	s.Attempt.URI, s.Attempt.Reason = "http://10.7.0.1/boot/-/uki.efi", "firmware reported late"
	s.Identity, s.BootGeneration = exampleDigest, 3
	s.Attempt.Outcome = protocol.BootAliased
	s.Holds[0].Receipt = sealedFact(FactReceipt)
	expired := at(6)
	s.Holds[0].State = resource.StateFenced
	s.Holds = append(s.Holds, resource.HoldReport{
		ID: "01j8", Word: resource.HoldReleased, EnforcedAt: at(4),
		Released: &resource.Release{HoldID: "01j8", Server: "server-1", By: "local:root", At: at(5), Reason: "the hub is gone"},
	})
	s.Holds = append(s.Holds, resource.HoldReport{
		ID: "01j9", Word: resource.HoldEnforced, EnforcedAt: at(5), Mode: resource.StopSoft, State: resource.StateStopping, Reason: "firmware work", ExpiredAt: &expired,
		Hold: &resource.ActiveHold{ID: "01j9", HoldSpec: resource.HoldSpec{Server: "server-1", Owner: "cluster", HoldTerms: resource.HoldTerms{Key: "node/9", Mode: resource.StopHard, Ref: "uid 9"}}},
	})
	s.Holds = append(s.Holds, resource.HoldReport{ID: "01ja", Word: resource.HoldEnforced, EnforcedAt: at(5), Withheld: true})
	on, pending := at(3), at(4)
	s.LastPoweredOn, s.PendingRebootSince, s.Provisioned, s.Released = &on, &pending, sealedFact(FactProvisioned), true
	s.Attempt.Code, s.Attempt.Unattested, s.Power = resource.AttemptNoReport, "other-image", protocol.PowerOn
	s.Safety = &protocol.Safety{
		SafeStop:  protocol.SafeStop{Class: protocol.SafeStopShellAvailable, Option: "Boot0002", Reason: "the shell is number 3 of 3 in the boot order", Remedy: "put Boot0002 first in Boot.BootOrder"},
		Detection: protocol.Detection{Class: protocol.DetectReset, LastResetTime: true, Stream: "/redfish/v1/EventService/SSE", Subscriptions: "/redfish/v1/EventService/Subscriptions", PowerLog: "/redfish/v1/Systems/1/LogServices/Log1/Entries", PollInterval: 30 * time.Second, Reason: "LastResetTime changes"},
		Restore:   protocol.Restore{Policy: protocol.RestoreLastState, Where: "PowerRestorePolicy", Value: "LastState", Writable: true},
		Offers: protocol.Offers{
			ForceOff: protocol.OfferedYes, GracefulShutdown: protocol.OfferedNo, ForceRestart: protocol.OfferedYes, GracefulRestart: protocol.OfferedYes,
			Pxe:      protocol.BootOffer{Is: protocol.OfferedYes},
			UefiHTTP: protocol.BootOffer{Is: protocol.OfferedOff, Setting: "IPv4HTTPSupport_00F5", Value: "Disabled", Want: "Enabled"},
			Cd:       protocol.BootOffer{Is: protocol.OfferedNo, Why: "it does not offer the boot target Cd; it offers [Pxe]"}, BootURI: protocol.OfferedNo,
		},
	}
	s.IdentityChange = &resource.IdentityChange{
		Was: resource.BoardIdentity{Serial: "S1", UUID: "4c4c4544-0000-2010-8020-b4c04f4d3132", MACs: []string{"52:54:00:00:00:01"}},
		Is:  resource.BoardIdentity{Serial: "S2", UUID: "4c4c4544-0000-2010-8020-b4c04f4d3133", MACs: []string{"52:54:00:00:00:02"}}, At: at(2),
	}
	s.TPM = &resource.TPMReport{
		Enrolment: "9f86d081884c7d65", Endorsement: exampleDigest, Origin: resource.TPMVouched, At: at(2), ServerUID: "01jsrv", Void: true,
		Other: &resource.OtherTPM{Endorsement: exampleDigest, At: at(3)},
	}
	s.Architecture = "arm64"
	s.Guard = &resource.GuardReport{State: resource.GuardDue, Before: protocol.RestoreLastState, Why: "the BMC answers 503"}
	s.Unreleased = &resource.UnreleasedReport{OwnerUID: "0wner", Generation: 2, ImageDigest: exampleDigest, At: at(2), Attempt: resource.AttemptFetched}
	s.Unexpected = &protocol.UnexpectedReport{At: at(6), To: protocol.PowerOn, By: protocol.ByResetTime, Stands: protocol.StandsRuns, Why: "its operating system was heard"}
	s.Env = &resource.EnvReport{
		State: resource.EnvRefused, BootEnv: "debian-12-install", OS: "debian-12", Generation: exampleDigest, Source: resource.EnvFromISO, Wanted: exampleDigest,
		Message: "the kernel is not there: install.amd/vmlinuz", Code: protocol.CodeNotFound,
	}
	fell := at(6)
	s.Fallback = &resource.FallbackReport{Generation: 2, Failed: 3, Since: &fell, Reason: "its image did not report in time: it was to report installed"}
	until := at(9)
	s.Firmware = &resource.FirmwareRun{
		OwnerUID: "m", Begun: at(5), Stage: resource.FirmwareFailed, Since: at(6), Passes: 1, Tries: 2, Code: resource.FirmwareLeft, Text: "no answer", Attempt: "01att",
		Settings: []resource.FirmwareSet{{
			FirmwareWanted: wantedOrder(), Before: "Boot0001, Boot0002", BeforeOrder: []string{"Boot0001", "Boot0002"}, Now: "Boot0001, Boot0002",
			Standing: resource.FirmwareHindered, Hindrance: protocol.FirmwareReadOnly, Text: "it is read only",
		}},
	}
	s.Awaits = &resource.Wait{For: resource.WaitReport, Since: at(6), Until: &until, Report: protocol.EvidenceInstalled}
	s.Requests = append(s.Requests, resource.RequestReport{ID: "01j2", Outcome: resource.OutcomeUnknown, At: at(6), Reason: "was given to an earlier disk of this agent"})
	r.Servers = append(r.Servers, resource.ServerReport{Server: "server-2", Account: &resource.AccountReport{
		Secret: "bmc-b2", UID: "01SECRET", Version: 4, Change: "01CHANGE", State: resource.AccountKept, Reason: "the BMC refused the next account",
	}, Observation: protocol.Observation{
		Server: "server-2", StartedAt: at(8), ReadAt: at(9), Source: protocol.SourcePoll, Power: protocol.PowerUnreachable,
		Code: protocol.CodeTimeout, Error: "no answer in 15s",
	}})
	r.Servers[1].Image = image()
	r.Conditions = []resource.ConditionState{{Code: resource.CondHubUnverified, Since: at(5)}}
	r.Upgrade = &message.UpgradeReport{Order: "01k5order", Stage: message.UpgradeWaiting, Code: message.UpgradeWaitsAttempt, Message: "server-1 is armed", Since: at(6), Running: exampleDigest}
	return r
}

func wantedOrder() resource.FirmwareWanted {
	return resource.FirmwareWanted{Setting: "bootOrder", Where: protocol.FirmwareAtOrder, Value: "Boot0002, Boot0001", Order: []string{"Boot0002", "Boot0001"}, Hidden: true}
}

func image() *protocol.ImageReport {
	inventoryAt := at(6)
	return &protocol.ImageReport{
		State: protocol.ProbeDiscovered, Message: "by rackboot-probe", At: at(7), OwnerUID: "01k5claim", InventoryAt: &inventoryAt, Digest: exampleDigest, Bytes: 900,
		Inventory: &protocol.HostInventory{
			Board: protocol.Board{
				Vendor: "Supermicro", Product: "AS-1015", Serial: "S1", UUID: "00000000-0000-0000-0000-3cecef000001",
				BIOSVendor: "American Megatrends Inc.", BIOSVersion: "2.4", BIOSDate: "02/06/2026",
			},
			CPU: protocol.HostCPU{Model: "AMD EPYC 9354P 32-Core Processor", Architecture: "amd64", Sockets: 1, Cores: 32, Threads: 64}, MemoryBytes: 256 << 30,
			Interfaces: []protocol.HostInterface{{
				Name: "enp1s0f0", MAC: "52:54:00:00:00:02", PermanentMAC: "3c:ec:ef:00:00:02", Link: true, SpeedMbps: 25000, Driver: "mlx5_core", PCI: "0000:01:00.0",
				Neighbours: []protocol.Neighbour{{Chassis: "0c:42:a1:00:00:01", Port: "swp7", System: "leaf-1"}},
			}},
			Disks: []protocol.HostDisk{{Name: "sda", Model: "ST8000NM", Serial: "ZA1", WWN: "naa.5000c500a1b2c3d4", Bytes: 8001563222016, Rotational: true, Transport: "sas"}},
		},
	}
}

func eventBatch() *message.EventBatch {
	return &message.EventBatch{
		Agent: "rack-1", Incarnation: "1nca", Session: "5e55", StoreHead: storeHead(),
		Events: []resource.Event{
			{From: 10, Seq: 11, At: at(7), Code: resource.EventLost, Message: "2 events were lost"},
			{Seq: 12, At: at(8), Server: "server-1", Code: resource.EventFenced, Message: "hold 01j0hold"},
		},
	}
}

func foundBMC() resource.FoundBMC {
	return resource.FoundBMC{
		Segment: "rack-a1-bmc", By: resource.FoundByLease, MAC: "3c:ec:ef:00:00:01", Address: "https://10.7.0.130", At: at(5),
		Fingerprint: exampleDigest, Vendor: "Supermicro", Product: "AS-1015", UUID: "00000000-0000-0000-0000-3cecef000001",
		Redfish: "1.11.0", Problem: "the service root has no UUID",
	}
}

// sealed opens with the key of package sealbox's tests.
func sealed() *message.SealedCredentials {
	return &message.SealedCredentials{
		Secret: "bmc", UID: "01k5secret", Version: 3,
		Enc:        unhex("c03ce12ad441ae4a00f167cc213868dcb164a3cc4e858884540542aa38e88c0e"),
		Ciphertext: unhex("8e2177474d6f612cfa98bb073f8ce6086c8a0fb5456cde4f91a3e66ee09195c515b8944033d60012af6b411aa5470ab7a65abde3ef3373e91b2df24fade2c13dc8590ea3bb93473836601a38f6b1aad6"),
	}
}

func unhex(s string) []byte {
	raw, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return raw
}

func ask() *message.Ask {
	return &message.Ask{
		ID: "01j8", Kind: message.AskInventory, SystemURI: "/redfish/v1/Systems/1", NotAfter: at(30), Server: "server-1", Serial: 3, What: "/debian/dists", Force: true, Firmware: true, Attributes: []string{"IPv4HTTPSupport"},
		BMC: message.BMCIntent{Name: "bmc-01", Address: "https://10.7.0.130", CredentialsRef: "secret:bmc", LegacyTLS: true, Fingerprint: exampleDigest, CA: "-----BEGIN CERTIFICATE-----\n(PEM)\n-----END CERTIFICATE-----\n", Sealed: sealed()},
	}
}

func answer() *message.Answer {
	return &message.Answer{ID: "01j8", Nonce: "b00b", Body: []byte("[]")}
}

func answerFailed() *message.Answer {
	return &message.Answer{ID: "01j8", Nonce: "b00b", Code: protocol.CodeDenied, Message: "the BMC refuses the credentials", Hint: "correct the file", Condition: resource.CondBMCDenied}
}

func syncEnded() *message.Sync {
	s := syncRefused()
	s.Refused, s.Ended = resource.CondSuperseded, sealedFact(FactEndOfTerm)
	return s
}

func localHolds() *message.LocalHolds {
	return &message.LocalHolds{Agent: "rack-1", Rack: "rack", Term: 1, At: at(3), Holds: []resource.ActiveHold{{
		ID: "01j9", HoldSpec: resource.HoldSpec{Server: "server-06", Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands", Mode: resource.StopHard}},
	}}}
}

func beat() *message.Beat {
	return &message.Beat{Rack: "rack", Agent: "rack-1", Segment: "boot", Run: "1d1e", Seq: 71, Echo: "2d2e", EchoSeq: 44}
}
