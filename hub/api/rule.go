package api

import (
	"rackboot/hub/access"
	"rackboot/protocol/resource"
)

// finding says how the target of a route is found.
type finding string

const (
	findWhole   finding = "whole"   // the hub as a whole
	findNamed   finding = "named"   // the resource of the path
	findRequest finding = "request" // the server of the request of the path
	findEach    finding = "each"    // what is listed or applied: the handler judges each
	findNone    finding = "none"    // the caller itself
)

// rule says which right a route needs, and on what.
type rule struct {
	op     access.Operation
	target finding
	kind   resource.Kind // of a named target
	open   bool          // it brings its own proof, and is not judged
	secret bool          // its answer has a secret, which is not kept
	noted  string        // what the audit log calls it, where op has several; default op
	iso    bool          // it is about an uploaded file
	part   bool          // it is a part of an act that is recorded
	hold   bool          // background work gives way to it
}

// rules are the rules of the routes by operation id. A route without one is for callers
// only who may do everything everywhere; a test finds it.
func rules() map[string]rule {
	out := map[string]rule{
		"apply":              {op: access.Apply, target: findEach},
		"hold":               {op: access.Hold, target: findNamed, kind: resource.KindServer, hold: true},
		"release":            {op: access.Release, target: findNamed, kind: resource.KindHold, hold: true},
		"confirmDown":        {op: access.Confirm, target: findNamed, kind: resource.KindHold},
		"annotate":           {op: access.Hold, target: findNamed, kind: resource.KindServer, hold: true},
		"request":            {op: access.Request, target: findNamed, kind: resource.KindServer},
		"getRequest":         {op: access.Read, target: findRequest},
		"firmware":           {op: access.Firmware, target: findNamed, kind: resource.KindServer},
		"discover":           {op: access.Apply, target: findNamed, kind: resource.KindServer},
		"approveMaintenance": {op: access.Apply, target: findNamed, kind: resource.KindMaintenance, noted: "approve"},
		"denyMaintenance":    {op: access.Apply, target: findNamed, kind: resource.KindMaintenance, noted: "deny"},

		"adoptGroup":  {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "adopt"},
		"ackGroup":    {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "ack"},
		"pinGroup":    {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "pin"},
		"unpinGroup":  {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "unpin"},
		"revertGroup": {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "revert"},
		// That of one which installs servers anew is judged further: see [API.commands].
		"commandRollout": {op: access.Apply, target: findNamed, kind: resource.KindServerGroup, noted: "rollout"},
		"diffGroup":      {op: access.Read, target: findNamed, kind: resource.KindServerGroup},
		"doctor":         {op: access.Read, target: findWhole},

		"acceptBMC":     {op: access.Accept, target: findNamed, kind: resource.KindBMC},
		"adoptServer":   {op: access.Accept, target: findNamed, kind: resource.KindServer},
		"import":        {op: access.Import, target: findWhole},
		"acceptServer":  {op: access.Accept, target: findNamed, kind: resource.KindServer},
		"rotateBMC":     {op: access.Secret, target: findNamed, kind: resource.KindBMC},
		"probeBMC":      {op: access.Accept, target: findNamed, kind: resource.KindBMC},
		"renderBootEnv": {op: access.Read, target: findNamed, kind: resource.KindServer},
		"traceServer":   {op: access.Read, target: findNamed, kind: resource.KindServer},
		"events":        {op: access.Read, target: findEach},
		"audit":         {op: access.AuditRead, target: findWhole},
		"exportAudit":   {op: access.AuditRead, target: findWhole},
		"joinToken":     {op: access.JoinToken, target: findNamed, kind: resource.KindRack, secret: true},
		"rekeySecrets":  {op: access.Secret, target: findWhole},
		"revokeAgent":   {op: access.Revoke, target: findWhole},
		"replaceAgent":  {op: access.Replace, target: findNamed, kind: resource.KindRack, secret: true},
		"join":          {open: true},

		"listApprovals": {op: access.Read, target: findWhole},
		"getApproval":   {op: access.Read, target: findWhole},
		"grantApproval": {op: access.Approve, target: findWhole},
		"denyApproval":  {op: access.Approve, target: findWhole},
		"signApproval":  {op: access.Approve, target: findWhole},

		"renew": {open: true},
		// Judged by the agent's certificate, and by no role.
		"ignition":  {open: true, secret: true},
		"envBundle": {open: true, secret: true},
		"whoami":    {op: access.Read, target: findNone},

		"listISOs":     {op: access.Read, target: findEach},
		"getISO":       {op: access.Read, target: findEach},
		"removeISO":    {op: access.Delete, target: findWhole, iso: true},
		"beginUpload":  {op: access.Apply, target: findWhole, iso: true},
		"getUpload":    {op: access.Read, target: findEach},
		"uploadPiece":  {op: access.Apply, target: findWhole, part: true},
		"finishUpload": {op: access.Apply, target: findWhole, noted: "finish", iso: true},
		"removeUpload": {op: access.Apply, target: findWhole, iso: true},
		// Judged by the agent's certificate, and by no role.
		"isoContent": {open: true},
	}
	for _, k := range resource.Kinds() {
		out["list"+string(k)] = rule{op: access.On(access.Read, k), target: findEach}
		out["get"+string(k)] = rule{op: access.On(access.Read, k), target: findNamed, kind: k}
		out["put"+string(k)] = rule{op: access.On(access.Apply, k), target: findEach}
		out["delete"+string(k)] = rule{op: access.On(access.Delete, k), target: findNamed, kind: k}
	}
	return out
}
