// Package client calls the API of a Rackboot hub, for programs of your own.
//
// Types and calls are generated from docs/openapi.json, which describes each route; [New] makes what calls them, and
// [Problem] is the error of everything that a hub refuses. A field that may be absent is a pointer where its absence says
// something else than what is empty: a time, or what has fields of its own. The package needs nothing else of this module, so that
// its folder can be copied.
//
//	hub, err := client.New(client.Config{URL: "https://hub.example:8443", CA: pem, Token: token})
//	…
//	servers, err := hub.ListServerWithResponse(ctx, nil)
//	if problem := client.ProblemOf(err); problem != nil {
//		log.Printf("%s: %s", problem.Code, problem.Hint)
//	}
package client
