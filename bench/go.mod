// The benchmarks are a module of their own, so that the peers they run beside
// us are no dependencies of Banyan.
module github.com/seed-ff860830/banyan/bench

go 1.26.0

require (
	github.com/geoknoesis/rdf-go v0.2.0
	github.com/knakk/rdf v0.0.0-20260317081859-15b52521cde6
	github.com/seed-ff860830/banyan v0.0.0
	github.com/tggo/goRDFlib v0.1.5
	pgregory.net/rapid v1.3.0
)

require (
	github.com/cayleygraph/quad v1.3.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/badger/v4 v4.9.6 // indirect
	github.com/dgraph-io/ristretto/v2 v2.2.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/flatbuffers v25.2.10+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/piprate/json-gold v0.8.0 // indirect
	github.com/pquerna/cachecontrol v0.2.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.41.0 // indirect
	go.opentelemetry.io/otel/metric v1.41.0 // indirect
	go.opentelemetry.io/otel/trace v1.41.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	google.golang.org/protobuf v1.36.7 // indirect
)

replace github.com/seed-ff860830/banyan => ../
