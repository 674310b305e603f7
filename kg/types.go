package kg

import (
	"time"

	"github.com/seed-ff860830/banyan/ontology"
)

// Snapshot is what the graph knows of one snapshot (class bn:WarmSnapshot).
type Snapshot struct {
	ID          ontology.SnapshotID
	DerivedFrom ontology.SnapshotID // "" for one that was booted
	Rung        ontology.RungName
	Runtime     ontology.RuntimeID
	SpecKey     ontology.SpecKey
	State       ontology.SnapshotState
	// Declares is what the snapshot was asked to hold, closed under
	// bn:implies; Provides is what it was observed to hold, with and without
	// versions. Both are sorted.
	Declares      []ontology.Capability
	Provides      []ontology.Capability
	WarmMillis    float64
	ResidentBytes int64
	CreatedAt     time.Time
	ExpiresAt     time.Time // zero if it does not expire by age
	Node          string    // the host it lives on
	// StateChangedAt is when State became what it is, StateReason why; both
	// may be empty.
	StateChangedAt time.Time
	StateReason    string
}

// Capability is what the graph knows of one capability.
type Capability struct {
	ID         ontology.Capability
	Label      string
	ImportName string                // "" for a bundle: nothing to import itself
	Implies    []ontology.Capability // the transitive closure, without ID, sorted
	WarmMillis float64               // what importing it costs; 0 if unknown
	Bundle     bool
}

// Runtime is what the graph knows of one language runtime.
type Runtime struct {
	ID         ontology.RuntimeID
	Label      string
	Language   string
	Version    string
	Executable string
	Args       []string
	Namespace  ontology.IRI // where its modules' capabilities live
	// StandardModules are the modules that come with the runtime: cheap to
	// import, so never a reason for a snapshot when a need is only inferred.
	StandardModules []string
	// Aliases are other names it may be asked for by, sorted.
	Aliases []ontology.RuntimeID
	// Preimports are what a warm parent holds if nobody says what it should.
	Preimports []ontology.Capability
	// Limits are what a job has that does not say.
	Limits DefaultLimits
}

// DefaultLimits are the limits of a runtime's jobs that do not say. Zero is
// none; they are not checked against what a host allows.
type DefaultLimits struct {
	WallMillis, CPUMillis, MemoryBytes, PIDs, OutputBytes, FilesBytes int64
}

// RungFacts are what this host's daemon found out about a rung (class bn:Rung).
type RungFacts struct {
	Name      ontology.RungName
	Label     string
	Rank      int
	Isolation ontology.Isolation
	WarmFork  bool   // it has bn:WarmForkFanoutCapability
	Available bool   // its probe succeeded
	Reason    string // why it is not available
}

// Lookup asks the capability index (DESIGN §3, questions 1 and 2).
type Lookup struct {
	Runtime ontology.RuntimeID
	Rung    ontology.RungName
	Need    []ontology.Capability // as asked, bundles expanded
}

// Candidate is one answer of the capability index.
type Candidate struct {
	ID            ontology.SnapshotID
	SpecKey       ontology.SpecKey
	Declares      []ontology.Capability
	Extra         int     // how many declared capabilities go beyond the need's closure
	WarmMillis    float64 // what making it cost, its whole lineage summed: what reusing it saves
	ResidentBytes int64
}
