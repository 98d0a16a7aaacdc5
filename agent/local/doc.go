// Package local is the agent's own API, for people at its host while the hub is away:
// HTTP and JSON over a Unix socket. It shows and explains everything that the agent
// knows, and can hold a server, release holds, confirm that a server is down and flush the
// mirror of package repositories.
//
//	method and path                     answer
//	GET  /v1/status                     Status: the link to the hub, documents, backlog
//	GET  /v1/servers                    List of Summary
//	GET  /v1/servers/{name}             Server: report, intent, holds, explanation
//	GET  /v1/servers/{name}/trace       resource.Trace of the newest power-on, or ?attempt=N
//	GET  /v1/holds                      List of Hold, those released here included
//	GET  /v1/mirror                     resource.MirrorStatus
//	POST /v1/servers/{name}/holds       api.HoldRequest → Hold; 201 where it is new
//	POST /v1/holds/{id}/release         api.ReleaseRequest → Hold
//	POST /v1/holds/{id}/confirm-down    api.ConfirmRequest → Hold
//	POST /v1/mirror/flush               api.FlushRequest → resource.MirrorFlushed
//
// What is changed is on disk when it is answered. Repeating a request changes nothing.
// Errors are problems as the hub's are (package api).
//
// There are no passwords and no port: who may open the socket may do everything that
// is listed here, and is named by what the kernel says of its process (SO_PEERCRED,
// unix(7)): "local:" and the name of the user, or the number of one without a name. A
// release of somebody else's hold needs a reason.
package local
