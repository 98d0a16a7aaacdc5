// Package kube reads what Kubernetes objects have in common: lists, metadata and Secrets. It knows no
// controller's kinds, and needs no library of Kubernetes.
package kube
