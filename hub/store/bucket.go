package store

import (
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// The buckets of what is stored beside the resources: the first part of each key.
const (
	answerBucket   = "answer"
	requestBucket  = "request"
	bucketApproval = "approval"
	ignitionBucket = "ignition"
	formerBucket   = "formerignition"
	envBucket      = "bootenv"
	isoBucket      = "iso"

	agentPackageBucket = "agentpackage"
	bulkBucket         = "bulk"
	partBucket         = "bulkpart"
	contentBucket      = "content"
	repositoryBucket   = "repository"

	hubBucket  = "hub"
	unitBucket = "unit" // of the site; those of racks are below it
)

// What is stored beside the resources, as Delta.Beside names it; there is more that nobody
// waits for.
const (
	BesideRequest   = requestBucket
	BesideApproval  = bucketApproval
	BesideLedger    = "ledger"
	BesideInventory = "inventory"
	BesideSealed    = "sealed"
	BesideIgnition  = ignitionBucket
	BesideFormer    = formerBucket
	BesideEnv       = envBucket
	BesideISO       = isoBucket
)

// apart reports whether nothing follows from what is in a bucket: what somebody was answered, lists that are worked off,
// which hubs there are and work what, what servers have of uploaded files, and what the registry has.
func apart(bucket string) bool {
	switch bucket {
	case answerBucket, bulkBucket, partBucket, contentBucket, repositoryBucket, hubBucket, unitBucket, unitBucket + ".rack":
		return true
	}
	return false
}

// passing reports whether what is in a bucket is not missed: it is worth nothing an hour later, or hubs make it anew
// from what they have. Checkpoints do not count it.
func passing(bucket string) bool { return bucket == hubBucket || bucket == contentBucket }

const resources = "res." // begins the buckets of resources

func bucketOf(kind resource.Kind) string { return resources + kind.Plural() }

// kindIn is the kind of what is in a bucket, if it is one of resources.
func kindIn(bucket string) (resource.Kind, bool) {
	plural, is := strings.CutPrefix(bucket, resources)
	kinds := resource.Kinds()
	at := slices.IndexFunc(kinds, func(k resource.Kind) bool { return k.Plural() == plural })
	if !is || at < 0 {
		return "", false
	}
	return kinds[at], true
}

func keyOf(kind resource.Kind, name string) string { return bucketOf(kind) + "." + name }
