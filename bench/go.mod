// The benchmarks are a module of their own, so that the peers they run beside
// us are no dependencies of Banyan.
module github.com/seed-ff860830/banyan/bench

go 1.26.0

require (
	github.com/geoknoesis/rdf-go v0.2.0
	github.com/knakk/rdf v0.0.0-20260317081859-15b52521cde6
	github.com/seed-ff860830/banyan v0.0.0
	github.com/tggo/goRDFlib v0.1.5
)

require (
	github.com/cayleygraph/quad v1.3.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/piprate/json-gold v0.8.0 // indirect
	github.com/pquerna/cachecontrol v0.2.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/seed-ff860830/banyan => ../
