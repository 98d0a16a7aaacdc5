package guard

import (
	"fmt"
	"slices"
	"testing"
)

// A layer says which packages of this module a package may import. Paths are
// below the module; x/... is x and what is below it.
type layer struct {
	pkg string
	may []string
	why string
}

// layers is the shape of the tree: what is decided stands apart from what is
// done, and each library stays behind its owner.
func layers() []layer {
	offline := []string{"netboot", "netboot/bootenv", "netboot/fsview", "netboot/image", "netboot/ignition", "netboot/iso"} // what the hub uses of netboot, without a server
	agent := []string{
		"internal/pending",
		"protocol/...", "state", "state/badger", "state/blob", "state/file", "bmc", "bmc/conns", "bmc/redfish",
		"netboot", "netboot/attest/enrol", "netboot/bootcert", "netboot/bootenv", "netboot/mirror", "netboot/chain", "netboot/dhcp", "netboot/dhcp6", "netboot/fsview", "netboot/httpboot", "netboot/iso", "netboot/tftp", "netboot/image",
		"agent/guard", "agent/store", "agent/account", "agent/ask", "agent/attemptlog", "agent/boot", "agent/discover", "agent/files", "agent/heartbeat", "agent/inrush", "agent/link", "agent/loaders", "agent/local", "agent/reports", "agent/server", "agent/stream", "agent/tpm", "agent/trace", "agent/trial", "agent/installed", "agent/upgrade",
	}
	rooms := []string{"hub/approvals", "hub/claims", "hub/discovery", "hub/dispatch", "hub/env", "hub/events", "hub/exporter", "hub/fence", "hub/filing", "hub/firmware", "hub/grants", "hub/groups", "hub/holds", "hub/images", "hub/imports", "hub/inventory", "hub/link", "hub/maintenance", "hub/members", "hub/mirrors", "hub/reports", "hub/requests", "hub/revisions", "hub/rollouts", "hub/sealing", "hub/sharing", "hub/status", "hub/terms", "hub/trace", "hub/upgrades", "hub/view", "hub/wake", "hub/watch"}
	hub := slices.Concat([]string{"protocol", "protocol/resource", "protocol/api", "internal/conns", "protocol/wire", "internal/pending", "hub/access", "hub/approval", "hub/catalogue", "hub/intake", "hub/plan", "hub/plan/bootimages", "hub/plan/rollout", "hub/store", "hub/turns", "state", "state/jetstream", "state/blob", "state/file"}, offline)
	return []layer{
		{"internal/guard", nil, "the guards"},
		{"protocol", nil, "codes, names and what is seen of a machine: who speaks them takes no library along"},
		{"protocol/resource", []string{"protocol"}, "what people write and read; it knows no link"},
		{"protocol/message", []string{"protocol", "protocol/resource"}, "what is signed and sent; resources know nothing of it"},
		{"protocol/natural", nil, "an order of names, which the hub and rackctl share"},
		{"protocol/selector", []string{"protocol", "protocol/resource"}, "which resources are selected, which the hub and rackctl say alike"},
		{"protocol/table", []string{"protocol", "protocol/resource"}, "what is in the tables of kinds, as values, which the hub and rackctl say alike: pure"},
		{"protocol/settings", []string{"protocol", "protocol/resource"}, "how firmware is to be set against how it is: pure, for the hub and for who has none"},
		{"protocol/decide", []string{"protocol", "protocol/message", "protocol/resource"}, "the rack's decisions are pure"},
		{"protocol/wire", []string{"protocol", "protocol/message", "protocol/resource"}, "seals and opens what message names"},
		{"protocol/sealbox", []string{"protocol", "protocol/message", "protocol/resource"}, "hub and agent seal and open alike; HPKE is of the standard library"},
		{"protocol/link", []string{"protocol", "protocol/wire"}, "carries envelopes; MQTT stays inside"},
		{"protocol/agentpackage", []string{"protocol", "protocol/wire"}, "what publishers sign, hubs show and agents verify alike"},
		{"protocol/backupfile", []string{"protocol"}, "a backup's format and its check, for who has no hub"},
		{"protocol/redact", []string{"protocol"}, "forms of secrets; it knows none of them"},
		{"protocol/auditlog", []string{"protocol", "protocol/wire"}, "the audit log's format and its check, for who has no hub"},
		{"client", nil, "the hub's API for programs of others: its folder can be copied"},
		{"internal/conns", nil, "bounds what listens in both daemons"},
		{"protocol/api", []string{"protocol", "protocol/resource", "protocol/table", "protocol/wire", "protocol/agentpackage"}, "routes and client of the hub's API"},

		{"state", []string{"protocol"}, "contracts of the two stores"},
		{"state/badger", []string{"protocol", "state"}, "a store; its errors carry codes"},
		{"state/file", []string{"protocol", "state"}, "replaces files; who writes one may import it, so that it is done in one way"},
		{"state/depot", []string{"protocol", "state", "state/file"}, "where backups are kept; it knows nothing of what they are"},
		{"state/depot/s3", []string{"protocol", "state/depot"}, "one of the places where backups are kept"},
		{"state/slots", []string{"protocol", "state", "state/file"}, "one record in room that was taken beforehand"},
		{"state/heads", []string{"protocol"}, "what a store had, by itself: pure, so that whoever keeps one can compare it"},
		{"state/blob", []string{"protocol", "state", "state/file"}, "a store; its errors carry codes"},
		{"state/jetstream", []string{"protocol", "state", "state/heads"}, "a store; its errors carry codes"},
		{"state/clock", nil, "the host's time, in one place so that tests of whole sites can step it"},
		{"state/statetest", []string{"protocol", "state"}, "one conformance suite for every store"},

		{"bmc", []string{"protocol"}, "what the agent needs from a BMC"},
		{"bmc/oldtls", nil, "what of a BMC's TLS is too old; who dials decides by it"},
		{"bmc/conns", nil, "connections to a BMC; it knows HTTP, and no Redfish"},
		{"bmc/redfish", []string{"protocol", "bmc", "bmc/conns", "bmc/oldtls"}, "the driver"},
		{"bmc/certify", []string{"protocol", "bmc"}, "tries a machine through any driver"},
		{"bmc/capture", []string{"protocol"}, "what BMCs answered, without what names them; it knows no driver"},
		{"bmc/sim/tree", []string{"protocol"}, "what resources say, as data"},
		{"bmc/sim/delay", nil, "waiting"},
		{"bmc/sim/hardware", []string{"protocol", "bmc/sim/delay"}, "the servers behind a BMC: of it they know what firmware sees"},
		{"bmc/sim", []string{"protocol", "bmc/sim/..."}, "shares nothing with the driver, so that they cannot agree on an error"},

		{"netboot", []string{"protocol", "protocol/resource"}, "what the boot servers need from the agent"},
		{"netboot/guard", []string{"protocol", "protocol/resource", "netboot"}, "what the servers share"},
		{"netboot/leasing", []string{"protocol", "protocol/resource", "netboot", "netboot/guard"}, "what the servers of both versions of DHCP do alike; it knows no message"},
		{"netboot/dhcp", []string{"protocol", "protocol/resource", "netboot", "netboot/guard", "netboot/leasing"}, "a server of one protocol"},
		{"netboot/dhcp6", []string{"protocol", "protocol/resource", "netboot", "netboot/guard", "netboot/leasing"}, "a server of one protocol"},
		{"netboot/httpboot", []string{"protocol", "netboot", "netboot/guard"}, "a server of one protocol"},
		{"netboot/bootcert", []string{"protocol", "netboot", "netboot/guard", "state/file"}, "works offline: the agent serves what rackctl makes"},
		{"netboot/tftp", []string{"protocol", "netboot", "netboot/guard"}, "a server of one protocol"},
		{"netboot/iso", []string{"protocol"}, "works offline: reads and writes images for CD drives"},
		{"netboot/iso/isotest", []string{"netboot/iso"}, "images for tests"},
		{"netboot/fsview", []string{"protocol", "netboot/iso"}, "works offline: reads archives, and knows no server"},
		{"netboot/image", []string{"protocol", "protocol/resource", "netboot", "netboot/iso"}, "works offline: the hub and rackctl use it too"},
		{"netboot/mirror", []string{"protocol", "netboot", "netboot/guard", "state", "state/blob", "state/file"}, "trees behind HTTP as file systems; it knows no server, and contents are kept in one way"},
		{"netboot/ignition", []string{"protocol", "protocol/resource"}, "works offline: the hub checks user data with it"},
		{"netboot/bootenv", []string{"protocol", "protocol/resource", "netboot"}, "works offline: what a boot environment is for one server, pure"},
		{"netboot/chain", []string{"protocol", "protocol/resource", "netboot"}, "which loaders a machine boots through, and what they are told: pure"},
		{"netboot/attest", []string{"protocol", "netboot/attest/eventlog", "netboot/attest/pehash", "netboot/attest/quote", "netboot/attest/seal", "netboot/attest/tpmkey"}, "works offline: what a TPM proves of a boot, pure"},
		{"netboot/attest/eventlog", []string{"protocol"}, "works offline: what firmware measured, and what of it is proof"},
		{"netboot/attest/pehash", []string{"protocol"}, "works offline: what firmware will measure of an image"},
		{"netboot/attest/tpmkey", []string{"protocol"}, "works offline: public keys of TPMs"},
		{"netboot/attest/quote", []string{"protocol", "netboot/attest/eventlog", "netboot/attest/tpmkey"}, "works offline: what a TPM signed"},
		{"netboot/attest/enrol", []string{"protocol", "netboot/attest/tpmkey"}, "works offline: which keys may be a server's"},
		{"netboot/attest/chip", []string{"protocol", "netboot/attest", "netboot/attest/enrol"}, "speaks with the TPM of the machine that it runs on; it knows no agent"},
		{"netboot/attest/seal", []string{"protocol", "netboot/attest/eventlog", "netboot/attest/tpmkey"}, "works offline: wraps secrets for a TPM; whether it may, it does not know"},
		{"netboot/attest/logtest", []string{"netboot/attest/eventlog"}, "event logs for tests"},
		{"netboot/attest/quotetest", []string{"netboot/attest/enrol", "netboot/attest/eventlog", "netboot/attest/tpmkey"}, "quotes for tests"},
		{"netboot/firmware", []string{"protocol"}, "a simulated client shares nothing with the servers but the codec"},

		{"internal/metrics", []string{"protocol", "internal/conns"}, "the metrics page of both daemons"},
		{"internal/doctable", nil, "functions beside the tables in their comments, for tests"},
		{"fdlimit", []string{"protocol"}, "the limit of file descriptors, of both daemons"},
		{"ready", []string{"protocol"}, "whether a daemon can do its work, for both"},
		{"internal/pending", nil, "things that are tried again until they are done"},

		{"netboot/probe", []string{"protocol", "netboot", "netboot/attest", "netboot/attest/chip", "netboot/attest/enrol", "netboot/attest/eventlog", "netboot/chain", "netboot/iso", "netboot/probe/discard", "netboot/probe/host", "netboot/probe/lldp", "netboot/probe/initramfs"}, "runs on servers; of the agent it knows the report URL only"},
		{"netboot/probe/discard", []string{"protocol", "netboot"}, "makes disks unreadable; it knows no agent"},
		{"netboot/probe/host", []string{"protocol"}, "reads /sys and /proc out of a file system"},
		{"netboot/probe/lldp", []string{"protocol"}, "hears a protocol"},
		{"netboot/probe/initramfs", []string{"protocol"}, "works offline: rackctl builds with it"},

		{"agent", agent, "the shell around decide"},
		{"agent/account", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "bmc", "state", "agent/store"}, "a room: by which account a BMC is spoken with, and its change; who opens what is sealed it knows as an interface"},
		{"agent/ask", []string{"protocol", "protocol/message", "protocol/resource", "bmc", "state", "agent/account"}, "a room: it answers what the hub asks; who asks it knows as an interface"},
		{"agent/attemptlog", []string{"protocol", "protocol/decide"}, "which lines of the log are about an attempt; who writes them it does not know"},
		{"agent/bootspan", []string{"protocol", "protocol/decide", "protocol/resource"}, "which spans a boot was: pure, and it knows no library of tracing"},
		{"agent/boot", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "netboot", "netboot/attest", "netboot/attest/enrol", "netboot/bootenv", "netboot/chain", "netboot/dhcp", "netboot/dhcp6", "netboot/httpboot", "netboot/iso", "netboot/tftp", "state", "state/blob", "agent/files", "agent/loaders", "agent/reports", "agent/store", "agent/tpm", "agent/trace"}, "a room: who may boot what, and the boot servers; the loops of servers it knows as an interface"},
		{"agent/discover", []string{"protocol", "protocol/resource", "netboot", "netboot/guard", "bmc/oldtls"}, "reads what strangers answer; it knows no driver and no credentials"},
		{"agent/files", []string{"internal/pending", "protocol", "protocol/decide", "protocol/message", "protocol/resource", "netboot", "netboot/bootenv", "netboot/chain", "netboot/fsview", "netboot/image", "netboot/iso", "netboot/mirror", "state", "state/blob", "agent/store"}, "a room: the files that servers boot from; who may boot it knows as an interface"},
		{"agent/heartbeat", []string{"protocol", "protocol/message", "protocol/wire", "state"}, "a room: whether the other agent of the rack is heard; nothing is decided by it"},
		{"agent/inrush", []string{"protocol/decide", "protocol/message", "protocol/resource"}, "who is switched on next: pure, times go in"},
		{"agent/link", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "protocol/wire", "state", "agent/reports", "agent/store"}, "a room: it speaks with the hub, and knows who puts documents in force as an interface"},
		{"agent/loaders", []string{"protocol", "netboot/chain", "state"}, "boot loaders from disk; it knows no boot"},
		{"agent/local", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api"}, "the agent's own API, and its client; it knows the agent as two interfaces"},
		{"agent/guard", []string{"protocol", "protocol/decide", "state", "state/slots"}, "what is guarded without a store; what its values are it does not know"},
		{"agent/store", []string{"protocol/...", "netboot", "netboot/chain", "state", "agent/guard"}, "the agent's documents over a store"},
		{"agent/otlp", []string{"agent/bootspan"}, "sends spans to a collector; it knows no agent"},
		{"agent/reports", []string{"protocol", "protocol/message", "protocol/resource", "state"}, "a room: what the agent says of itself and its servers; it knows no link"},
		{"agent/server", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "protocol/wire", "bmc", "netboot", "state", "agent/account", "agent/boot", "agent/inrush", "agent/store", "agent/stream", "agent/trace"}, "a room: the loops of servers; whom it tells, and what it asks of boots, files and the hub, it knows as interfaces"},
		{"agent/stream", []string{"protocol", "bmc", "bmc/redfish", "netboot"}, "a room: what BMCs say by themselves; it knows no driver but what it reads through"},
		{"agent/tpm", []string{"protocol", "protocol/decide", "netboot/attest", "netboot/attest/enrol", "netboot/guard", "state", "agent/store"}, "a room: whose TPM is enrolled; who has which token it does not know"},
		{"agent/trace", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "netboot", "state", "agent/bootspan", "agent/store"}, "a room: what was seen of power-ons; nothing is decided by it"},
		{"agent/trial", []string{"protocol/decide", "protocol/resource", "state", "agent/reports", "agent/store"}, "a room: changed segments are tried; what serves them it knows as an interface"},
		{"agent/installed", []string{"protocol", "protocol/message", "state", "state/file"}, "which program of the agent runs, which the agent and its launcher share: the launcher is small"},
		{"agent/upgrade", []string{"protocol", "protocol/agentpackage", "protocol/decide", "protocol/message", "protocol/resource", "state", "state/blob", "agent/installed"}, "a room: another release of the agent; what the rack does it knows as an interface"},
		{"agent/secret", []string{"protocol", "protocol/message", "protocol/resource", "protocol/sealbox", "agent/store"}, "has the agent's key; it knows no driver and no document"},
		{"agent/daemon", slices.Concat(agent, []string{"agent", "agent/otlp", "agent/secret", "state/slots", "fdlimit", "internal/metrics", "ready", "state/clock"}), "puts an agent together from its file"},

		{"hub/plan", []string{"protocol", "protocol/message", "protocol/resource", "protocol/decide"}, "the hub's decisions are pure"},
		{"hub/plan/bootimages", []string{"protocol", "protocol/message", "protocol/resource"}, "which image a group is to have is pure"},
		{"hub/plan/hubs", nil, "which of several hubs works what is pure"},
		{"hub/plan/rollout", []string{"protocol", "protocol/resource"}, "which server of a group is begun next is pure"},
		{"hub/approval", []string{"protocol", "protocol/resource", "protocol/wire"}, "who approves what, and the key that signs it"},
		{"hub/access", []string{"protocol/resource"}, "who may do what is pure"},
		{"hub/iso", []string{"protocol", "protocol/agentpackage", "protocol/resource", "protocol/api", "hub/store", "netboot/bootenv", "netboot/fsview", "netboot/image", "state", "state/blob", "state/file"}, "uploaded files; who checks signatures it knows as an interface"},
		{"hub/registry", []string{"protocol", "hub/contents", "hub/store", "internal/conns", "state", "state/blob", "state/file"}, "images within the hub, of several hubs in their store; who may do what it knows as a function"},
		{"hub/packages", []string{"protocol", "protocol/agentpackage", "protocol/api", "protocol/resource", "protocol/wire", "hub/store", "state"}, "packages of agents; where their programs are it knows as an interface"},
		{"hub/iso/openpgp", []string{"protocol", "hub/iso"}, "detached signatures"},
		{"hub/contents", []string{"protocol", "hub/iso", "hub/store", "state", "state/blob", "state/jetstream"}, "uploaded files on the servers of the store, for all hubs"},
		{"hub/catalogue", []string{"protocol", "protocol/resource"}, "works offline: rackctl reads vendors' metadata with it"},
		{"hub/catalogue/fetch", []string{"protocol", "protocol/resource", "hub/iso", "state"}, "files of boot images by HTTP, into the store of uploaded files"},
		{"hub/labels", []string{"protocol/natural", "protocol/resource"}, "names by labels; pure, it belongs to no kind and no store"},
		{"hub/store", []string{"hub/labels", "hub/once", "protocol", "protocol/message", "protocol/natural", "protocol/resource", "state", "state/heads"}, "typed resources over a store"},
		{"hub/store/storetest", []string{"protocol", "protocol/resource", "state", "hub/store"}, "fakes for tests"},
		{"hub/intake", []string{"protocol", "protocol/message"}, "what agents say waits here; who reads it, it knows as an interface"},
		{"hub/fence", []string{"protocol", "protocol/message", "protocol/resource", "hub/store", "state", "state/heads"}, "which start of a hub is the newest; every room stops where it says so"},
		{"hub/checkpoint", []string{"hub/store", "state/file", "state/heads", "state/jetstream"}, "what the store had, beside it"},
		{"hub/events", []string{"protocol", "protocol/resource", "protocol/api", "hub/fence", "hub/store", "state"}, "a room below the others: each files what happened"},
		{"hub/webhooks", []string{"protocol", "protocol/api", "protocol/resource", "hub/events", "hub/store", "state"}, "sends events elsewhere; nobody waits for it"},
		{"hub/conditions", []string{"protocol", "protocol/resource"}, "books of conditions, whatever they are of"},
		{"hub/terms", []string{"protocol", "protocol/message", "protocol/resource", "protocol/wire", "hub/store", "state"}, "which agent serves a rack; who speaks with it asks here"},
		{"hub/reports", []string{"hub/once", "protocol", "protocol/message", "protocol/resource"}, "what agents said last; it knows no store"},
		{"hub/wake", []string{"protocol", "protocol/resource", "hub/store", "hub/turns"}, "whom a change wakes; what a turn does it knows as a function"},
		{"hub/sealing", []string{"protocol/resource", "hub/store"}, "what the rooms share that seal secrets"},
		{"hub/sharing", []string{"protocol", "protocol/api", "protocol/message", "protocol/resource", "hub/fence", "hub/plan/hubs", "hub/store", "hub/wake", "state"}, "a room: which hubs there are, and what this one works"},
		{"hub/images", []string{"protocol", "protocol/resource", "internal/pending", "hub/catalogue", "hub/conditions", "hub/events", "hub/plan", "hub/plan/bootimages", "hub/store", "hub/wake", "state"}, "a room: registries and vendors it knows as interfaces"},
		{"hub/link", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "protocol/wire", "hub/events", "hub/fence", "hub/intake", "hub/plan", "hub/reports", "hub/store", "hub/terms", "hub/wake", "state"}, "a room: it speaks with agents, and knows what becomes of their words as an interface"},
		{"hub/members", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "protocol/decide", "protocol/wire", "hub/approval", "hub/events", "hub/link", "hub/store", "hub/terms", "hub/wake", "state"}, "a room: agents join, are certified, and go"},
		{"hub/inventory", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "protocol/sealbox", "protocol/settings", "hub/conditions", "hub/events", "hub/link", "hub/plan", "hub/reports", "hub/sealing", "hub/store", "hub/wake", "state"}, "a room: BMCs, and what is behind them"},
		{"hub/env", []string{"protocol", "protocol/agentpackage", "protocol/message", "protocol/resource", "protocol/api", "protocol/sealbox", "hub/conditions", "hub/events", "hub/images", "hub/link", "hub/plan", "hub/sealing", "hub/store", "hub/terms", "netboot/bootenv", "netboot/ignition", "state"}, "a room: what boots carry besides their image"},
		{"hub/grants", []string{"protocol/message", "protocol/resource", "protocol/wire", "hub/events", "hub/link", "hub/plan", "hub/store", "state"}, "a room: boot configurations with their grants"},
		{"hub/revisions", []string{"protocol", "protocol/message", "protocol/resource", "protocol/wire", "hub/env", "hub/events", "hub/images", "hub/plan", "hub/plan/bootimages", "hub/store", "state"}, "a room: the histories of groups"},
		{"hub/upgrades", []string{"protocol", "protocol/agentpackage", "protocol/message", "protocol/resource", "protocol/api", "hub/conditions", "hub/events", "hub/plan/rollout", "hub/reports", "hub/store", "state"}, "a room: releases of agents in waves"},
		{"hub/rollouts", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "hub/approval", "hub/events", "hub/grants", "hub/inventory", "hub/plan", "hub/plan/bootimages", "hub/plan/rollout", "hub/reports", "hub/revisions", "hub/store", "hub/wake", "state"}, "a room: the roll-outs of groups"},
		{"hub/groups", []string{"protocol", "protocol/resource", "protocol/api", "hub/catalogue", "hub/conditions", "hub/env", "hub/events", "hub/images", "hub/plan", "hub/plan/bootimages", "hub/revisions", "hub/rollouts", "hub/plan/rollout", "hub/store", "hub/wake", "netboot/ignition", "state"}, "a room: what groups are to boot"},
		{"hub/approvals", []string{"protocol", "protocol/resource", "hub/approval", "hub/events", "hub/rollouts", "hub/link", "hub/plan", "hub/reports", "hub/store", "hub/wake", "state"}, "a room: what people are asked for"},
		{"hub/view", []string{"protocol/resource", "hub/env", "hub/grants", "hub/revisions", "hub/inventory", "hub/link", "hub/plan", "hub/reports", "hub/store", "hub/wake", "state"}, "reads what the turns decide by"},
		{"hub/requests", []string{"protocol/message", "protocol/resource", "hub/reports", "hub/store", "state"}, "a room: what people ask of agents"},
		{"hub/dispatch", []string{"protocol/message", "protocol/resource", "hub/fence", "hub/link", "hub/plan", "hub/requests", "hub/store", "state"}, "a room: the documents of agents"},
		{"hub/holds", []string{"protocol", "protocol/message", "protocol/resource", "hub/approvals", "hub/events", "hub/fence", "hub/link", "hub/plan", "hub/reports", "hub/store", "hub/view", "hub/wake", "state"}, "a room: the lane of holds"},
		{"hub/filing", []string{"protocol", "protocol/resource", "protocol/wire", "hub/link", "hub/reports", "hub/store", "state"}, "a room: what agents have signed"},
		{"hub/claims", []string{"protocol", "protocol/resource", "protocol/api", "protocol/wire", "hub/approvals", "hub/conditions", "hub/env", "hub/events", "hub/grants", "hub/revisions", "hub/images", "hub/inventory", "hub/plan", "hub/requests", "hub/store", "hub/view", "hub/wake", "state"}, "a room: claims, from their binding to their end"},
		{"hub/maintenance", []string{"protocol", "protocol/resource", "hub/approvals", "hub/conditions", "hub/env", "hub/events", "hub/grants", "hub/revisions", "hub/images", "hub/inventory", "hub/plan", "hub/store", "state"}, "a room: maintenances"},
		{"hub/discovery", []string{"protocol", "protocol/resource", "hub/conditions", "hub/env", "hub/events", "hub/grants", "hub/revisions", "hub/images", "hub/plan", "hub/store", "hub/view", "state"}, "a room: discoveries"},
		{"hub/firmware", []string{"protocol", "protocol/resource", "protocol/api", "hub/events", "hub/store", "hub/wake", "state"}, "a room: marks of firmware work"},
		{"hub/imports", []string{"protocol", "protocol/resource", "protocol/api", "protocol/wire", "hub/claims", "hub/env", "hub/groups", "hub/plan", "hub/store", "hub/wake", "state"}, "a room: what another hub exported"},
		{"hub/trace", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "hub/link", "hub/store"}, "a room: what an agent saw of a power-on"},
		{"hub/mirrors", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "hub/link", "hub/store"}, "a room: what agents have of package repositories"},
		{"hub/status", []string{"protocol", "protocol/decide", "protocol/message", "protocol/resource", "protocol/api", "protocol/wire", "hub/approvals", "hub/claims", "hub/discovery", "hub/env", "hub/events", "hub/fence", "hub/groups", "hub/images", "hub/inventory", "hub/link", "hub/maintenance", "hub/plan", "hub/reports", "hub/revisions", "hub/store", "hub/terms", "hub/upgrades", "hub/view", "state"}, "a room: what is printed, and scraped"},
		{"hub/exporter", []string{"protocol", "protocol/decide", "protocol/resource", "hub/approvals", "hub/claims", "hub/fence", "hub/inventory", "hub/plan", "hub/reports", "hub/status", "hub/store", "hub/view", "hub/wake", "state"}, "a room: what Prometheus sees of the fleet; nothing stands on it"},
		{"hub/watch", []string{"protocol", "protocol/resource", "protocol/selector", "protocol/api", "hub/access", "hub/store"}, "a room: it tells watches what changes; who shows resources is an interface"},
		{"hub/support", []string{"protocol", "protocol/api", "protocol/redact"}, "a room beside the others: what a hub tells to whoever is to help"},
		{"hub/once", nil, "what many values say alike, in memory once"},
		{"hub/turns", nil, "a queue of names, whatever they are of"},
		{"hub/bulk", []string{"protocol", "protocol/resource", "protocol/api", "hub/access", "hub/store", "state"}, "a room: what is asked of many servers; it knows the API as an interface"},
		{"hub/api/route", []string{"protocol", "protocol/resource", "protocol/selector", "protocol/api", "hub/access", "hub/store"}, "what handlers of the API share; it knows none of them, and not what stands before them"},
		{"hub/api/fair", []string{"protocol"}, "shares places; it knows no request"},
		{"hub/api/gate", []string{"protocol", "protocol/resource", "protocol/api", "internal/conns", "hub/access", "hub/api/fair", "hub/api/route", "hub/store", "state", "state/heads"}, "what requests pass before their handlers; it knows routes by their rules"},
		{"hub/api", []string{"configs/schemas", "protocol", "protocol/resource", "protocol/selector", "protocol/table", "protocol/api", "hub/access", "hub/api/gate", "hub/api/route", "hub/bulk", "hub/plan", "hub/store", "hub/watch", "state", "state/blob", "state/heads"}, "the HTTPS API: handlers by noun; it knows no message"},
		{"hub/api/apitest", slices.Concat(hub, []string{"protocol/backupfile", "protocol/settings", "hub/api", "hub/api/gate", "hub/audit", "hub/auditcopy", "hub/auditcopy/copytest", "protocol/auditlog", "hub/iso", "hub/secret", "hub/store/storetest", "hub/watch", "protocol/agentpackage", "hub/packages"}), "the API for tests of its clients"},
		{"hub/control", slices.Concat(hub, rooms, []string{"protocol/message", "protocol/decide"}), "turns of racks and of the site, and the rooms put together"},
		{"hub/accounts", []string{"protocol", "protocol/message"}, "what certificates may do at brokers: pure"},
		{"hub/broker", []string{"hub/accounts", "protocol"}, "the embedded broker"},
		{"hub/cluster", []string{"protocol"}, "the way to NATS servers of the user's"},
		{"hub/pki", []string{"protocol", "protocol/message", "protocol/wire", "protocol/api", "state", "state/clock", "state/file", "hub/access"}, "the hub's keys on disk; how it marks certificates of clients is access's word"},
		{"hub/web", []string{"protocol", "protocol/api", "protocol/resource", "hub/access"}, "the page and its sessions; the API it knows as a handler, and who calls as an interface"},
		{"hub/people", []string{"protocol", "state", "hub/access"}, "persons by tokens of a provider; it knows no route"},
		{"hub/audit", []string{"protocol", "protocol/auditlog", "protocol/wire", "state"}, "the audit log on disk"},
		{"hub/auditcopy", []string{"protocol", "protocol/api", "protocol/auditlog", "protocol/wire", "state"}, "a room: the audit logs of all hubs; its own log, the stream and the store it knows as interfaces"},
		{"hub/auditcopy/copytest", []string{"protocol", "state"}, "the stream, for tests"},
		{"hub/backup", []string{"protocol", "protocol/api", "protocol/backupfile", "state", "state/depot", "state/file"}, "a room beside the others: what is copied it is given as functions"},
		{"hub/backup/setting", []string{"protocol", "protocol/backupfile", "hub/backup", "state/depot", "state/depot/s3"}, "what the hub's file says of backups"},
		{"hub/secret", []string{"protocol", "protocol/resource", "protocol/api", "hub/store"}, "has the key-encryption key; who uses it knows it as an interface"},
		{"hub/daemon", slices.Concat(hub, []string{"hub/fence", "hub/members", "hub/plan/hubs", "hub/sealing", "hub/sharing", "hub/accounts", "hub/terms", "protocol/agentpackage", "protocol/backupfile", "protocol/link", "protocol/message", "hub/api", "hub/api/gate", "hub/audit", "hub/auditcopy", "protocol/auditlog", "hub/backup", "hub/backup/setting", "hub/broker", "hub/catalogue/fetch", "hub/checkpoint", "hub/cluster", "hub/contents", "hub/control", "hub/iso", "hub/iso/openpgp", "hub/packages", "hub/pki", "hub/registry", "fdlimit", "hub/secret", "hub/support", "internal/metrics", "ready", "state/clock", "state/heads", "hub/web", "hub/webhooks", "hub/people"}), "puts a hub together from its file"},

		{"cmd/internal/manifest", []string{"protocol", "protocol/resource"}, "reads manifests"},
		{"cmd/internal/firstrack", []string{"protocol", "protocol/resource", "state/file"}, "writes files; it reads no BMC and asks nobody"},
		{"cmd/internal/terminal", []string{"protocol", "protocol/resource"}, "what every command may show"},
		{"cmd/internal/cli/agentpackage", []string{"protocol", "protocol/agentpackage", "protocol/api", "protocol/wire", "cmd/internal/cli/client", "cmd/internal/cli/keypair", "cmd/internal/cli/printer"}, "verbs of packages of agents; making one asks no hub"},
		{"cmd/internal/cli/keypair", []string{"protocol", "protocol/wire"}, "makes keys"},
		{"cmd/internal/cli/audit", []string{"protocol", "protocol/api", "protocol/auditlog", "protocol/resource", "protocol/wire", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/happened", "cmd/internal/cli/keypair", "cmd/internal/cli/printer", "cmd/internal/cli/publickey"}, "verbs of who did what, and who allowed it"},
		{"cmd/internal/depots", []string{"protocol", "protocol/backupfile", "state/depot", "state/depot/s3"}, "where backups are, as command lines say it"},
		{"cmd/internal/cli/backup", []string{"protocol", "protocol/api", "protocol/backupfile", "state/depot", "cmd/internal/depots", "cmd/internal/cli/client", "cmd/internal/cli/printer"}, "verbs of backups"},
		{"cmd/internal/cli/boot", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/printer", "cmd/internal/manifest", "cmd/internal/terminal", "netboot", "netboot/bootcert", "netboot/bootenv", "netboot/ignition", "netboot/probe/initramfs"}, "verbs of what servers boot"},
		{"cmd/internal/cli/bulk", []string{"protocol", "cmd/internal/cli/files", "cmd/internal/cli/printer"}, "one thing to several; it asks no hub"},
		{"cmd/internal/cli/choice", []string{"protocol", "protocol/api", "protocol/resource", "protocol/table", "protocol/natural", "cmd/internal/cli/path", "protocol/selector", "cmd/internal/cli/where"}, "which resources somebody means"},
		{"cmd/internal/cli/client", []string{"protocol", "protocol/api", "state/file", "cmd/internal/cli/person", "cmd/internal/manifest", "cmd/internal/terminal"}, "connects and waits; it prints nothing"},
		{"cmd/internal/cli/convert", []string{"protocol", "protocol/resource", "cmd/internal/cli/files", "cmd/internal/cli/printer", "cmd/internal/convert", "cmd/internal/convert/dnsmasq", "cmd/internal/convert/drprovision", "cmd/internal/convert/maas", "cmd/internal/convert/metal3", "cmd/internal/convert/metaloperator", "cmd/internal/convert/netbox", "cmd/internal/terminal"}, "manifests from other tools; it asks no hub"},
		{"cmd/internal/cli/decode", []string{"protocol", "protocol/wire", "cmd/internal/cli/files", "cmd/internal/cli/printer", "cmd/internal/cli/publickey"}, "wire decode, which talks to no hub and knows no message"},
		{"cmd/internal/cli/fetch", []string{"protocol", "protocol/api", "cmd/internal/cli/files", "cmd/internal/cli/printer"}, "downloads; it knows no hub"},
		{"cmd/internal/cli/files", []string{"protocol"}, "reads and writes files"},
		{"cmd/internal/cli/apply", []string{"protocol", "protocol/api", "protocol/resource"}, "applies sets of any size in parts; it reads no file and prints nothing"},
		{"cmd/internal/cli/asked", []string{"protocol/api", "protocol/resource", "cmd/internal/cli/printer"}, "how requests are shown"},
		{"cmd/internal/cli/group", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/kinds", "cmd/internal/cli/printer", "cmd/internal/cli/rollout", "cmd/internal/terminal"}, "verbs of groups and their roll-outs"},
		{"cmd/internal/cli/happened", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/printer"}, "events, for several verbs"},
		{"cmd/internal/cli/hold", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/asked", "cmd/internal/cli/bulk", "cmd/internal/cli/choice", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/kinds", "cmd/internal/cli/printer", "protocol/selector"}, "verbs that stop and start servers, and keep them as they are"},
		{"cmd/internal/cli/image", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/client", "cmd/internal/cli/fetch", "cmd/internal/cli/files", "cmd/internal/cli/printer", "cmd/internal/manifest", "hub/catalogue", "netboot/image"}, "verbs of boot images; metadata of vendors is read by itself"},
		{"cmd/internal/cli/inventory", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/choice", "cmd/internal/cli/client", "cmd/internal/cli/printer"}, "servers as Ansible has them"},
		{"cmd/internal/cli/iso", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/client", "cmd/internal/cli/fetch", "cmd/internal/cli/files", "cmd/internal/cli/printer"}, "verbs of uploaded files"},
		{"cmd/internal/cli/kinds", []string{"protocol", "protocol/resource", "protocol/table", "protocol/wire", "cmd/internal/cli/printer", "cmd/internal/cli/rollout"}, "how each kind is shown; it asks nobody"},
		{"cmd/internal/cli/login", []string{"protocol", "protocol/api", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/person", "cmd/internal/cli/printer", "cmd/internal/cli/publickey", "cmd/internal/terminal"}, "verbs of hubs that are known"},
		{"cmd/internal/cli/object", []string{"protocol", "protocol/api", "protocol/resource", "protocol/selector", "protocol/wire", "cmd/internal/cli/apply", "cmd/internal/cli/asked", "cmd/internal/cli/bulk", "cmd/internal/cli/choice", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/happened", "cmd/internal/cli/kinds", "protocol/natural", "cmd/internal/cli/path", "cmd/internal/cli/printer", "cmd/internal/cli/where", "cmd/internal/manifest", "cmd/internal/terminal"}, "verbs on any kind of resource, and secrets"},
		{"cmd/internal/cli/path", []string{"protocol/selector"}, "kubectl's JSONPath"},
		{"cmd/internal/cli/printer", []string{"protocol", "protocol/resource", "protocol/selector", "cmd/internal/cli/path", "cmd/internal/manifest", "cmd/internal/terminal"}, "writes; it knows no command, and asks nobody"},
		{"cmd/internal/cli/publickey", []string{"protocol"}, "reads keys"},
		{"cmd/internal/cli/rollout", []string{"protocol/resource", "cmd/internal/cli/printer"}, "what is said of a roll-out; it asks the hub only why servers wait"},
		{"cmd/internal/cli/person", []string{"protocol"}, "logs a person in at a provider; it knows no hub"},
		{"cmd/internal/cli/site", []string{"protocol", "protocol/api", "protocol/resource", "protocol/settings", "bmc", "bmc/capture", "bmc/oldtls", "bmc/certify", "bmc/redfish", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/kinds", "cmd/internal/cli/printer", "protocol/selector", "cmd/internal/firstrack", "cmd/internal/manifest", "cmd/internal/terminal"}, "verbs of racks, BMCs and servers; bmc probe --direct, firmware plan --direct and init read a BMC where there is no hub"},
		{"cmd/internal/cli/support", []string{"protocol", "protocol/api", "protocol/redact", "protocol/resource", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/printer"}, "one file for whoever is to help"},
		{"cmd/internal/cli/top", []string{"protocol", "protocol/api", "protocol/resource", "cmd/internal/cli/choice", "cmd/internal/cli/client", "cmd/internal/cli/files", "cmd/internal/cli/kinds", "protocol/natural", "cmd/internal/cli/printer", "cmd/internal/cli/where", "cmd/internal/terminal"}, "racks and servers on a terminal; what is drawn is pure"},
		{"cmd/internal/cli/where", []string{"protocol/api", "protocol/resource", "protocol/selector"}, "the racks of resources"},
		{"cmd/internal/cli", []string{"protocol", "protocol/api", "protocol/resource", "protocol/natural", "cmd/internal/cli/agentpackage", "cmd/internal/cli/audit", "cmd/internal/cli/backup", "cmd/internal/cli/boot", "cmd/internal/cli/client", "cmd/internal/cli/convert", "cmd/internal/cli/decode", "cmd/internal/cli/files", "cmd/internal/cli/group", "cmd/internal/cli/hold", "cmd/internal/cli/image", "cmd/internal/cli/inventory", "cmd/internal/cli/iso", "cmd/internal/cli/login", "cmd/internal/cli/object", "cmd/internal/cli/printer", "cmd/internal/cli/site", "cmd/internal/cli/support", "cmd/internal/cli/top", "cmd/internal/cli/webhook"}, "rackctl: its groups of verbs, put together"},
		{"cmd/internal/convert", []string{"protocol", "protocol/resource", "cmd/internal/manifest"}, "what other tools' files become, and a report; it knows no tool"},
		{"cmd/internal/convert/dnsmasq", []string{"protocol", "protocol/resource", "cmd/internal/convert"}, "a reader of one tool"},
		{"cmd/internal/convert/drprovision", []string{"protocol/resource", "cmd/internal/convert"}, "a reader of one tool"},
		{"cmd/internal/convert/kube", []string{"protocol/resource", "cmd/internal/convert"}, "what objects of Kubernetes have in common"},
		{"cmd/internal/convert/maas", []string{"protocol", "protocol/resource", "cmd/internal/convert"}, "a reader of one tool"},
		{"cmd/internal/convert/metal3", []string{"protocol/resource", "cmd/internal/convert", "cmd/internal/convert/kube"}, "a reader of one tool"},
		{"cmd/internal/convert/metaloperator", []string{"protocol", "protocol/resource", "cmd/internal/convert", "cmd/internal/convert/kube"}, "a reader of one tool"},
		{"cmd/internal/convert/netbox", []string{"protocol", "protocol/resource", "cmd/internal/convert"}, "a reader of one tool"},
		{"cmd/internal/cli/webhook", []string{"protocol", "protocol/api", "cmd/internal/cli/client", "cmd/internal/cli/printer"}, "verbs of webhooks"},
		{"cmd/internal/serve", []string{"protocol"}, "what the command lines of daemons and simulator share; it knows none"},
		{"cmd/internal/serve/agent", []string{"protocol", "protocol/resource", "protocol/api", "cmd/internal/serve", "cmd/internal/terminal", "agent/daemon", "agent/installed", "agent/local"}, "command line of one daemon, and of its socket"},
		{"cmd/internal/serve/hub", []string{"protocol", "protocol/backupfile", "cmd/internal/depots", "cmd/internal/serve", "hub/daemon"}, "command line of one daemon"},
		{"cmd/internal/launch", []string{"protocol/message", "agent/installed"}, "rackboot-launcher, which is small: no store, no link and no command line library"},
		{"cmd/rackboot-launcher", []string{"cmd/internal/launch"}, "main"},
		{"cmd/internal/manual", []string{"protocol", "netboot/probe", "cmd/internal/cli", "cmd/internal/launch", "cmd/internal/serve/agent", "cmd/internal/serve/hub", "cmd/internal/simulate"}, "manual pages of the commands"},
		{"cmd/rackboot-agent", []string{"cmd/internal/serve/agent"}, "main"},
		{"cmd/rackboot-hub", []string{"cmd/internal/serve/hub"}, "main"},
		{"cmd/rackctl", []string{"cmd/internal/cli"}, "main"},
		{"cmd/rackboot-probe", []string{"protocol", "netboot/probe"}, "main"},
		{"cmd/internal/simulate", []string{"cmd/internal/serve", "integration/sim", "integration/fleet", "configs/demo", "protocol", "protocol/message", "protocol/resource", "protocol/api"}, "command line of the simulated site"},
		{"configs/schemas", []string{"protocol/resource"}, "JSON Schemas of kinds, embedded"},
		{"configs/demo", nil, "the demo's manifests, embedded"},
		{"cmd/rackboot-sim", []string{"cmd/internal/simulate"}, "main"},

		{"integration/benchbmc", []string{"protocol", "bmc", "bmc/redfish", "bmc/sim", "bmc/sim/..."}, "measures the driver against the simulator"},
		{
			"integration/benchnetboot",
			[]string{"protocol", "protocol/resource", "netboot", "netboot/dhcp", "netboot/httpboot", "netboot/tftp", "agent/store", "state/badger", "integration/netns", "integration/benchreport"},
			"measures the boot servers beside others; leases are in the agent's store",
		},
		{"integration/benchfs", []string{"protocol", "protocol/resource", "netboot", "netboot/bootenv", "netboot/fsview", "netboot/httpboot", "netboot/iso", "netboot/iso/isotest", "integration/benchreport"}, "measures files out of images beside another server, rendering and swaps"},
		{"integration/benchreport", nil, "figures of benchmarks beside peers"},
		{"integration/benchfence", belowCmd(), "measures holds with hub, agent and simulated BMCs"},
		{"integration/benchfleet", belowCmd(), "measures a hub with many agents, which are here, and reads its file when it is the hub"},
		{"integration/mutate", nil, "edits of driver and simulator that tests must notice; it knows both as text"},
		{"integration/identity", nil, "a provider that tests log in at; it knows no product"},
		{"integration/explore", nil, "goes through the states of a model; it knows no product"},
		{"integration/shards", nil, "what agents tell against what the hub has, over a bad line"},
		{"integration/memnet", nil, "buffered in-memory network for tests"},
		{"integration/sim", belowCmd(), "composition of simulated racks"},
		{"integration/fleet", []string{"protocol", "protocol/message", "protocol/resource", "protocol/api", "protocol/decide", "protocol/link", "protocol/wire", "state/file", "integration/benchreport"}, "a load of agents without racks: of the agent it has what the link knows of one"},
		{"integration/firsthour", nil, "which pages are run as a newcomer runs them"},
		{"integration/shellpage/picture", nil, "what a terminal shows, as SVG"},
		{"integration/shellpage", nil, "blocks of pages, and a shell that runs them; it knows no product"},
		{"integration/testsum", nil, "the sum of test runs, for CI"},
		{"integration/rack", belowCmd(), "tests"},
		{"integration/alone", belowCmd(), "tests of an agent with nobody but its machines"},
		{"integration/cures", nil, "tests of what an agent calls each fault of a BMC, and of what its hint does"},
		{"integration/faults", nil, "tests of the link between hub and agent"},
		{"integration/holds", nil, "vectors of holds and fencing"},
		{"integration/listeners", nil, "tests of everything that listens"},
		{"integration/site", belowCmd(), "tests of hub and agent together"},
		{"integration/brokers", nil, "tests with real brokers"},
		{"integration/firmware", nil, "tests with real firmware"},
		{"integration/page", nil, "tests with a browser"},
		{"integration/images", nil, "tests with programs that make images"},
		{"integration/tpm", nil, "tests with a TPM"},
		{"integration/tpm/witness", []string{"netboot/attest/enrol", "netboot/attest/eventlog", "netboot/attest/seal"}, "init of the machines that they boot"},
		{"integration/installer", nil, "init of the images that they boot; it knows the agent by its packets only"},
		{"integration/netns", nil, "network namespaces for tests"},
		{"integration/powerlog", nil, "what simulated machines write of themselves; who reads it needs no product"},
		{"integration/storm", belowCmd(), "composition of a storm: operators, faults, the table"},
		{"integration/storm/rig", []string{"protocol", "protocol/resource", "protocol/api", "integration/powerlog", "integration/sim"}, "runs and damages a site of processes; it knows neither daemon but by its program"},
		{"integration/storm/judge", []string{"protocol", "protocol/resource", "integration/powerlog"}, "says what a storm broke: pure, and of the product it knows the words only"},
		{"integration/upgrade", nil, "tests of agents that upgrade themselves, as processes"},
		{"integration/packaging", nil, "tests of packages and images"},
		{"integration/parallel", nil, "tests beside each other, for packages that wait more than they work"},
		{"integration/uki", nil, "builds the images that they boot"},
	}
}

// testLayers is what tests may import on top of their package and its layer.
func testLayers() []layer {
	return []layer{
		{"agent/...", []string{"internal/doctable"}, "tables"},
		{"agent/upgrade", []string{"protocol/wire"}, "digests"},
		{"client", []string{"hub/api/apitest", "hub/store/storetest", "protocol", "protocol/resource"}, "calls go to the real API"},
		{"hub/...", []string{"internal/doctable"}, "tables"},
		{"netboot/...", []string{"internal/doctable", "netboot/iso/isotest"}, "tables, and images to read"},
		{"netboot/attest/...", []string{"netboot/attest/logtest", "netboot/attest/quotetest"}, "machines and TPMs"},
		{"netboot/probe", []string{"internal/doctable"}, "tables"},
		{"netboot/probe/discard", []string{"internal/doctable"}, "tables"},
		{"protocol/...", []string{"internal/doctable"}, "tables"},
		{"cmd/internal/serve/agent", []string{"protocol/message"}, "what the agent's socket shows"},
		{"internal/guard", []string{"integration/firsthour", "integration/fleet", "integration/shellpage", "agent/daemon", "hub/daemon", "netboot/bootenv", "netboot/ignition", "netboot/probe", "protocol", "protocol/resource"}, "the examples are read by the real loaders, and pages as the tests that run them do"},
		{"protocol/link", []string{"integration/memnet"}, "a network inside the bubble"},
		{"state/...", []string{"state/statetest"}, "the conformance suite"},
		{"state/jetstream", []string{"internal/doctable"}, "a table in a comment is held"},
		{"hub/catalogue/fetch", []string{"state/statetest"}, "crash points"},
		{"agent", []string{"bmc/sim", "bmc/sim/hardware", "state/statetest"}, "its store is in memory, and what a server costs is counted with simulated BMCs"},
		{"agent/reports", []string{"protocol/wire", "agent/discover", "netboot"}, "found BMCs are reported, and a full report fits into a message"},
		{"agent/link", []string{"state/statetest"}, "its store is in memory, full or failing"},
		{"agent/trace", []string{"state/statetest"}, "what it traces is read again, as after a restart"},
		{"agent/account", []string{"state/statetest"}, "its store is in memory"},
		{"agent/guard", []string{"state/statetest"}, "stores that fail"},
		{"agent/daemon", []string{"agent/bootspan", "bmc/sim", "bmc/sim/hardware", "state/statetest"}, "an agent without its store guards a simulated server, on a disk to fill; and a boot is sent to a collector"},
		{"agent/attemptlog", []string{"protocol/resource"}, "attempts in each state"},
		{"agent/otlp", []string{"protocol", "protocol/decide", "protocol/resource"}, "boots that are sent"},
		{"agent/server", []string{"agent/attemptlog", "agent/guard", "agent/reports", "state/badger", "state/statetest"}, "its store is in memory or is opened again, and what it tells is read"},
		{"agent/trial", []string{"protocol", "protocol/message", "state/statetest"}, "documents change segments, and its store is in memory"},
		{"agent/tpm", []string{"netboot/attest/eventlog", "netboot/attest/logtest", "netboot/attest/pehash", "netboot/attest/quotetest", "protocol/message", "state/statetest"}, "TPMs, and its store is in memory"},
		{"agent/boot", []string{"state/statetest"}, "its store is in memory"},
		{"agent/files", []string{"state/badger", "state/statetest"}, "a store to note in, and crash points"},
		{"agent/store", []string{"state/badger", "state/statetest"}, "it is opened again, as after a restart; and properties in memory"},
		{"agent/discover", []string{"bmc/sim", "bmc/sim/...", "netboot/dhcp"}, "simulated BMCs ask the real server for their leases"},
		{"bmc/capture", []string{"protocol/resource", "bmc", "bmc/redfish", "bmc/sim", "bmc/sim/..."}, "the driver reads simulated BMCs, and what was kept of them"},
		{"bmc/redfish", []string{"bmc/sim", "bmc/sim/...", "integration/memnet", "internal/doctable", "protocol/resource", "protocol/settings"}, "the driver is tested against the simulator; a network inside the bubble; tables in comments; the page of families has verdicts; what is planned is written"},
		{"bmc/certify", []string{"bmc/redfish", "bmc/sim", "bmc/sim/...", "integration/memnet"}, "the driver and the simulator in a bubble"},
		{"netboot/httpboot", []string{"netboot/bootcert", "integration/netns"}, "handshakes with the certificates that are made for it; addresses that cannot be used yet"},
		{"netboot/dhcp6", []string{"integration/netns"}, "the server on a real link"},
		{"netboot/mirror", []string{"integration/memnet"}, "a network inside the bubble"},
		{"netboot/firmware", []string{"protocol/resource", "netboot/..."}, "the client is tested against the servers"},
		{"hub/...", []string{"protocol/...", "hub/...", "integration/identity", "integration/memnet"}, "fakes of the neighbours"},
		{"state/heads", []string{"internal/doctable"}, "tables in comments are held"},
		{"hub/control", []string{"state/heads"}, "what agents are told of the store"},
		{"hub/link", []string{"integration/explore"}, "the model of several hubs"},
		{"hub/audit", []string{"state/statetest"}, "crash points, and a disk to fill"},
		{"hub/auditcopy", []string{"hub/audit", "hub/auditcopy/copytest", "hub/broker", "state/jetstream"}, "the logs that are copied, and a server"},
		{"hub/daemon", []string{"netboot/iso/isotest", "state/statetest"}, "crash points, a disk to fill, and media to upload"},
		{"hub/packages", []string{"state/statetest"}, "crash points"},
		{"hub/iso", []string{"netboot/iso/isotest", "state/statetest"}, "crash points, and media to upload"},
		{"hub/broker", []string{"state", "state/jetstream", "state/statetest"}, "the hub's own store on it, and a disk to fill"},
		{"hub/store/storetest", []string{"state/statetest"}, "the conformance suite"},
		{"cmd/internal/firstrack", []string{"cmd/internal/manifest"}, "what it writes is read"},
		{"cmd/internal/convert", []string{"cmd/internal/convert/..."}, "all readers hold what is true of each"},
		{"cmd/internal/manifest", []string{"integration/shellpage", "configs/schemas"}, "what pages show of manifests is read"},
		{"cmd/internal/cli", []string{"bmc/certify", "bmc/sim", "bmc/sim/...", "cmd/internal/manifest", "hub/api", "hub/api/apitest", "hub/store", "hub/store/storetest", "protocol/api", "state/heads", "hub/access", "hub/people", "integration/identity"}, "calls go to the real API"},
		{"cmd/internal/cli/person", []string{"integration/identity", "protocol"}, "a provider to log in at"},
		{"cmd/internal/serve/hub", []string{"protocol/api"}, "asks the hub that it runs"},
		{"cmd/internal/cli/boot", []string{"internal/doctable"}, "a table in a comment is held"},
		{"cmd/internal/cli/bulk", []string{"cmd/internal/cli/files"}, "answers are typed"},
		{"cmd/internal/cli/inventory", []string{"internal/doctable"}, "a table in a comment is held"},
		{"cmd/internal/cli/object", []string{"internal/doctable"}, "a table in a comment is held"},
		{"cmd/internal/cli/path", []string{"protocol/resource"}, "paths of a resource"},
		{"cmd/internal/cli/site", []string{"internal/doctable"}, "a table in a comment is held"},
		{"cmd/internal/cli/decode", []string{"protocol/message", "protocol/resource"}, "messages are made here"},
		{"cmd/internal/cli/group", []string{"internal/doctable"}, "tables in comments are held"},
		{"cmd/internal/cli/iso", []string{"hub/api", "hub/api/apitest", "hub/iso"}, "uploads go to the real API, and to one that loses them"},
		{"cmd/internal/cli/top", []string{"hub/api/apitest", "hub/store/storetest", "protocol/selector", "state/heads"}, "a hub to look at, which may lose something"},
		{"cmd/rackctl", []string{"hub/api/apitest", "hub/approval", "hub/store", "hub/store/storetest", "protocol", "protocol/backupfile", "protocol/resource", "protocol/api", "protocol/wire", "integration/sim"}, "scripts run against the real API, and a registry"},
		{"integration/...", belowCmd(), "composition"},
		{"integration/fleet", []string{"internal/doctable"}, "tables"},
	}
}

// belowCmd is everything but the commands.
func belowCmd() []string {
	return []string{"protocol/...", "state/...", "bmc/...", "netboot/...", "netboot/probe/...", "internal/metrics", "agent/...", "hub/...", "integration/..."}
}

// A row that names a package which is gone, or a package without a row, is an
// error too: the table says what is.
func TestImports(t *testing.T) {
	all := golist(t, "./...")
	report(t, layerProblems(all, layers()))
	report(t, testLayerProblems(all, layers(), testLayers()))
}

// layerProblems judges what packages import.
func layerProblems(all []listed, rows []layer) []string {
	problems := stale(all, rows)
	for _, p := range all {
		row, n := layer{}, 0
		for _, r := range rows {
			if match(r.pkg, p.name()) {
				row, n = r, n+1
			}
		}
		if n != 1 {
			problems = append(problems, fmt.Sprintf("%s: in %d rows of the import table, want one", p.name(), n))
			continue
		}
		for _, i := range p.Imports {
			if ours(i) && !matchAny(row.may, below(i)) {
				problems = append(problems, fmt.Sprintf("%s imports %s; it may import %q (%s)", p.name(), below(i), row.may, row.why))
			}
		}
	}
	return problems
}

// testLayerProblems judges what tests import.
func testLayerProblems(all []listed, rows, more []layer) []string {
	problems := stale(all, more)
	for _, p := range all {
		may := []string{p.name()}
		for _, r := range slices.Concat(rows, more) {
			if match(r.pkg, p.name()) {
				may = append(may, r.may...)
			}
		}
		for _, i := range p.ownTests() {
			if ours(i) && !matchAny(may, below(i)) {
				problems = append(problems, fmt.Sprintf("a test of %s imports %s; it may import %q", p.name(), below(i), may))
			}
		}
	}
	return problems
}

// stale returns the patterns of a table that match no package.
func stale(all []listed, rows []layer) []string {
	var problems []string
	for _, r := range rows {
		for _, pattern := range append([]string{r.pkg}, r.may...) {
			if !slices.ContainsFunc(all, func(p listed) bool { return match(pattern, p.name()) }) {
				problems = append(problems, fmt.Sprintf("row %s: %s matches no package", r.pkg, pattern))
			}
		}
	}
	return problems
}

func TestImportsCanFail(t *testing.T) {
	tree := []listed{
		{ImportPath: "rackboot/a", Imports: []string{"fmt"}},
		{ImportPath: "rackboot/b", Imports: []string{"rackboot/a"}, TestImports: []string{"rackboot/b/fake"}},
		{ImportPath: "rackboot/b/fake", XTestImports: []string{"rackboot/b/fake"}},
	}
	a, b, fake := layer{pkg: "a"}, layer{pkg: "b", may: []string{"a"}}, layer{pkg: "b/fake"}
	for _, c := range []struct {
		name       string
		rows, more []layer
		want       string
	}{
		{"good", []layer{a, b, fake}, []layer{{pkg: "b", may: []string{"b/fake"}}}, ""},
		{"import not allowed", []layer{a, {pkg: "b"}, fake}, []layer{{pkg: "b", may: []string{"b/fake", "a"}}}, "b imports a"},
		{"test import not allowed", []layer{a, b, fake}, nil, "a test of b imports b/fake"},
		{"package without a row", []layer{a, b}, []layer{{pkg: "b", may: []string{"b/fake"}}}, "b/fake: in 0 rows"},
		{"package in two rows", []layer{a, b, fake, {pkg: "b/fake/..."}}, []layer{{pkg: "b", may: []string{"b/fake"}}}, "b/fake: in 2 rows"},
		{"row without a package", []layer{a, b, fake, {pkg: "gone"}}, []layer{{pkg: "b", may: []string{"b/fake"}}}, "gone matches no package"},
		{"allowance without a package", []layer{a, {pkg: "b", may: []string{"a", "gone/..."}}, fake}, []layer{{pkg: "b", may: []string{"b/fake"}}}, "gone/... matches no package"},
		{"test row without a package", []layer{a, b, fake}, []layer{{pkg: "b/...", may: []string{"b/fake"}}, {pkg: "gone"}}, "gone matches no package"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, append(layerProblems(tree, c.rows), testLayerProblems(tree, c.rows, c.more)...), c.want)
		})
	}
}
