// Package metal3 converts the objects of metal3.io/v1alpha1: a BareMetalHost becomes a Server, a BMC and,
// where it is said what to boot, a Claim; the Secrets that it names become Secrets.
package metal3
