// Package api is the hub's HTTPS API as both of its ends see it: routes, the
// bodies of requests and answers, problems (RFC 9457) and the client that
// rackctl and the agent's join use. Resources travel as in package resource.
//
//	GET    /v1/{plural}                   List
//	GET    /v1/{plural}/{name}            the resource
//	PUT    /v1/{plural}/{name}            the resource -> the resource (user-written kinds)
//	DELETE /v1/{plural}/{name}            the resource as it is now
//	POST   /v1/apply                      ApplyRequest -> ApplyAnswer
//	POST   /v1/servers/{name}/holds       HoldRequest -> Hold
//	POST   /v1/holds/{id}/release         -> Hold
//	POST   /v1/servers/{name}/requests    RebootRequest -> RequestStatus
//	GET    /v1/requests/{id}              RequestStatus
//	GET    /v1/hubs                       HubList
//	GET    /v1/hubs/{name}                HubStatus
//	GET    /v1/events?after=&limit=       EventList
//	GET    /v1/audit?from=&limit=&all=    AuditList
//	GET    /v1/audit/export?from=         JSON lines, see package auditlog
//	GET    /v1/backup                     octets, see package backupfile
//	GET    /v1/backup/status              BackupStatus
//	DELETE /v1/bootimages/{name}?force=   BootImage
//	GET    /v1/isos                       ISOList
//	GET    /v1/isos/{name}                ISOItem
//	DELETE /v1/isos/{name}?force=         ISOItem
//	POST   /v1/iso-uploads                ISOUploadRequest -> ISOUpload
//	GET    /v1/iso-uploads/{id}           ISOUpload; HEAD has the offset in Upload-Offset
//	PUT    /v1/iso-uploads/{id}/content?offset=  octets -> ISOUpload
//	POST   /v1/iso-uploads/{id}/finish    ISOFinishRequest -> ISOFile
//	DELETE /v1/iso-uploads/{id}
//	GET    /v1/agentpackages              AgentPackageList
//	GET    /v1/agentpackages/{digest}     AgentPackage
//	PUT    /v1/agentpackages/{digest}     AgentPackageRequest -> AgentPackage
//	PUT    /v1/agentpackages/{digest}/programs/{architecture}?offset=  octets -> AgentProgram
//	DELETE /v1/agentpackages/{digest}     AgentPackage
//	GET    /v1/iso-content/{digest}       octets, also ranges (an agent's certificate)
//	POST   /v1/racks/{name}/join-token    -> JoinToken
//	POST   /v1/join                       JoinRequest -> JoinAnswer (one-time token in the body)
//	GET    /healthz, /readyz, /openapi.json
//
// All below /v1 but join want "Authorization: Bearer TOKEN".
package api
