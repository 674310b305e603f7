// Package peer runs other SPARQL engines beside Banyan's: goRDFlib's, in a
// child process of the caller's own program, and Oxigraph's from npm, in a
// child process of Node.js. A child of its own means that an engine without
// bounds can be stopped, and that its memory is its own.
//
// Caller and child speak JSON, one value a line, a reply to each request.
package peer

// Request asks a child for one thing.
type Request struct {
	// Op is one of the Op constants.
	Op string `json:"op"`
	// Text is the query or update, or the N-Quads of OpLoad.
	Text string `json:"text,omitempty"`
	// File names an N-Quads file that OpLoad reads in place of Text.
	File string `json:"file,omitempty"`
	// Union makes the union of all graphs the default graph.
	Union bool `json:"union,omitempty"`
	// Quiet asks for the time alone, not for the answer.
	Quiet bool `json:"quiet,omitempty"`
}

// What a child can be asked for.
const (
	OpLoad   = "load"   // put the statements in place of all that it holds
	OpQuery  = "query"  // answer a query
	OpUpdate = "update" // run an update
	OpDump   = "dump"   // return all statements as N-Quads
)

// Reply is a child's answer.
type Reply struct {
	// Error is the engine's own refusal; the rest is empty then.
	Error string `json:"error,omitempty"`
	// Result is a SPARQL results JSON document for SELECT and ASK, N-Triples
	// for CONSTRUCT and DESCRIBE, N-Quads for OpDump.
	Result string `json:"result,omitempty"`
	// Nanos is how long the engine took by the child's own clock, without the
	// way between the processes and without writing the result down.
	Nanos int64 `json:"nanos"`
	// RSS is the child's peak resident set in bytes.
	RSS int64 `json:"rss"`
}
