// Package metaloperator converts the objects of metal.ironcore.dev/v1alpha1: Server, BMC with its Endpoint and
// BMCSecret, and ServerClaim with the Secret of its Ignition.
package metaloperator
