package api

type noInput struct{}

type named struct {
	Name string `path:"name" doc:"metadata.name of the resource"`
}

type namedBody struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	RawBody []byte `contentType:"application/json"`
}

type deleteInput struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	IfMatch string `header:"If-Match" doc:"the ETag that the resource must have"`
}

type putInput struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	IfMatch string `header:"If-Match" doc:"the ETag that the resource must have"`
	RawBody []byte `contentType:"application/json"`
}

type bodyInput struct {
	RawBody []byte `contentType:"application/json"`
}

type answer[T any] struct {
	Body T
}
