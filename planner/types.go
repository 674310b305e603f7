package planner

import (
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// Graph is what the planner asks of the knowledge graph. An implementation
// answers from memory and does not change while a plan is being made.
type Graph interface {
	// Supersets returns up to k live or stored snapshots that provide all of
	// the need, cheapest first.
	Supersets(l kg.Lookup, k int) []kg.Candidate
	// Bases returns up to k snapshots that declare a part of the need's closure
	// and nothing beyond it, the one that saves the most warm-up first.
	Bases(l kg.Lookup, k int) []kg.Candidate
	// Capability returns what is known of a capability.
	Capability(c ontology.Capability) (kg.Capability, bool)
}

// Need is what one job requires.
type Need struct {
	Runtime      ontology.RuntimeID    `json:"runtime"`
	Capabilities []ontology.Capability `json:"capabilities"`
	Isolation    ontology.Isolation    `json:"isolation"`
	Callbacks    bool                  `json:"callbacks,omitempty"`
	Network      bool                  `json:"network,omitempty"`
	ThirdParty   bool                  `json:"third_party,omitempty"` // needs libraries beyond the runtime's own
	Rung         ontology.RungName     `json:"rung,omitempty"`        // only this rung, if set
	Match        ontology.MatchPolicy  `json:"match"`
}

// Rung is what the planner knows of one rung at the moment of planning.
type Rung struct {
	Name       ontology.RungName  `json:"name"`
	Rank       int                `json:"rank"`
	Isolation  ontology.Isolation `json:"isolation"`
	Languages  []string           `json:"languages"`
	Callbacks  bool               `json:"callbacks,omitempty"`
	ThirdParty bool               `json:"third_party,omitempty"`
	Network    bool               `json:"network,omitempty"`
	// WarmFork says that the rung keeps warm parents; without it every job
	// boots, and the graph is not asked.
	WarmFork bool `json:"warm_fork,omitempty"`
	Branch   bool `json:"branch,omitempty"`
	// Unavailable says why the rung cannot run here; "" if it can.
	Unavailable string `json:"unavailable,omitempty"`
	// BreakerOpen says why the breaker keeps the rung out; "" if it does not.
	BreakerOpen string `json:"breaker_open,omitempty"`
	// Reward is the EMA of outcomes in [0,1]; start ½.
	Reward float64 `json:"reward"`
	// ForkMillis and BootMillis are measured costs; 0 takes a default.
	ForkMillis float64 `json:"fork_ms,omitempty"`
	BootMillis float64 `json:"boot_ms,omitempty"`
}

// Facts are all that a decision depends on beside the need.
type Facts struct {
	Rungs    []Rung
	Language string // of the need's runtime
	Graph    Graph
}

// Route is how a rung comes to a child.
type Route string

// The routes of DESIGN §7.3.
const (
	RouteReuse  Route = "reuse"  // fork a snapshot that holds all
	RouteBranch Route = "branch" // branch the best base, then fork the branch
	RouteBoot   Route = "boot"   // start the runtime, then fork it
)

// Choice is one way to run the job; a plan has a best one and fallbacks.
// Missing is sorted, without bundles, and never nil: empty on reuse, all of the
// need on boot. ExpectedMS is what the job waits until its code starts, a branch
// counted as made first and then forked.
type Choice struct {
	Rung       ontology.RungName     `json:"rung"`
	Route      Route                 `json:"route"`
	Snapshot   ontology.SnapshotID   `json:"snapshot,omitempty"` // reuse: the one to fork
	Base       ontology.SnapshotID   `json:"base,omitempty"`     // branch: the one to branch
	Missing    []ontology.Capability `json:"missing"`            // what the route has to add
	ExpectedMS float64               `json:"expected_ms"`
	Score      float64               `json:"score"`
}

// RungVerdict is one line of the explanation: a rung's score, or why it is out.
type RungVerdict struct {
	Rung    ontology.RungName `json:"rung"`
	Score   float64           `json:"score"`
	LeftOut string            `json:"left_out,omitempty"`
}

// CandidateVerdict is one snapshot that was looked at for the chosen rung.
type CandidateVerdict struct {
	Snapshot   ontology.SnapshotID   `json:"snapshot"`
	Rung       ontology.RungName     `json:"rung"`
	Route      Route                 `json:"route"` // what it would serve for
	Holds      []ontology.Capability `json:"holds"` // what it declares
	Extra      int                   `json:"extra"`
	ExpectedMS float64               `json:"expected_ms"`
}

// Plan is a decision with its explanation (INTERFACES, Plan).
type Plan struct {
	Choice                         // the best way
	Need       Need                `json:"need"`
	Why        []string            `json:"why"` // sentences, in order
	Rungs      []RungVerdict       `json:"rungs"`
	Candidates []CandidateVerdict  `json:"candidates"`
	Fallbacks  []ontology.RungName `json:"fallbacks"`
	// Choices are the best way and every fallback, in order.
	Choices []Choice `json:"-"`
}
