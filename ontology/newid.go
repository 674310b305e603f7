package ontology

import "github.com/oklog/ulid/v2"

// NewSnapshotID returns a fresh snapshot id. Ids made later sort later. Safe
// for concurrent use.
func NewSnapshotID() SnapshotID { return SnapshotID("sn_" + ulid.Make().String()) }

// NewRunID returns a fresh run id. Safe for concurrent use.
func NewRunID() RunID { return RunID("ex_" + ulid.Make().String()) }
