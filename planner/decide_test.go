package planner_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
)

var universe = []string{"a", "b", "c", "d", "a@1", "a@2", "b@1"}

var states = []ontology.SnapshotState{ontology.StateLive, ontology.StateLive, ontology.StateStored, ontology.StateRetired, ontology.StateRevoked}

func drawCapabilities(t *rapid.T, label string) []ontology.Capability {
	n := rapid.SampledFrom([]int{1, 2, 2, 3, 0}).Draw(t, label)
	return py(rapid.SliceOfNDistinct(rapid.SampledFrom(universe), n, n, rapid.ID[string]).Draw(t, label)...)
}

// drawWorld makes rungs, snapshots and capabilities that hang together as the
// engine's do, with an odd one among them: a snapshot that does not hold what it
// declares, a rung with any traits, a reward that is no number.
func drawWorld(t *rapid.T) (planner.Facts, *naiveGraph) {
	g := &naiveGraph{}
	if rapid.Bool().Draw(t, "d implies c") {
		g.Capabilities = append(g.Capabilities, naiveCapability{ID: py("d")[0], Implies: py("c"), WarmMillis: 120})
	}
	g.Capabilities = append(g.Capabilities, naiveCapability{ID: py("a")[0], WarmMillis: rapid.Float64Range(-1, 500).Draw(t, "warm a")})
	names := []ontology.RungName{"r0", "r1", "r2"}
	for i := range rapid.SampledFrom([]int{0, 1, 3, 6, 9}).Draw(t, "snapshots") {
		s := naiveSnapshot{
			ID:       ontology.SnapshotID("sn_" + string(rune('A'+i))),
			Rung:     rapid.SampledFrom(names).Draw(t, "on"),
			Runtime:  rapid.SampledFrom([]ontology.RuntimeID{"python", "python", "python", "other"}).Draw(t, "of"),
			State:    rapid.SampledFrom(states).Draw(t, "state"),
			Declares: drawCapabilities(t, "declares"),
		}
		s.Provides = append(drawCapabilities(t, "beyond"), s.Declares...)
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			s.Provides = []ontology.Capability{}
		}
		g.Snapshots = append(g.Snapshots, s)
	}
	facts := planner.Facts{Language: "python", Graph: g}
	for _, n := range names[:rapid.SampledFrom([]int{3, 3, 3, 2, 1, 0}).Draw(t, "rungs")] {
		facts.Rungs = append(facts.Rungs, drawRung(t, n))
	}
	return facts, g
}

func drawRung(t *rapid.T, name ontology.RungName) planner.Rung {
	mostly := func(label string) bool {
		return rapid.SampledFrom([]bool{true, true, true, true, true, true, true, false}).Draw(t, label)
	}
	r := planner.Rung{
		Name: name, Rank: rapid.IntRange(0, 30).Draw(t, "rank"),
		Isolation: ontology.Isolation(rapid.SampledFrom([]int{1, 2, 3, 4, 0}).Draw(t, "isolation")),
		Languages: []string{"python"}, Callbacks: mostly("callbacks"), ThirdParty: mostly("third party"),
		Network: mostly("network"), WarmFork: mostly("warm fork"), Branch: mostly("branch"),
		Reward:     rapid.SampledFrom([]float64{0, 0.2, 0.5, 0.5, 1, math.NaN(), 7}).Draw(t, "reward"),
		ForkMillis: rapid.SampledFrom([]float64{0, 1.5, -3, math.Inf(1)}).Draw(t, "fork"),
	}
	if !mostly("language") {
		r.Languages = []string{"lua"}
	}
	if !mostly("available") {
		r.Unavailable = "no kernel"
	}
	if !mostly("breaker") {
		r.BreakerOpen = "it failed"
	}
	return r
}

func drawNeed(t *rapid.T) planner.Need {
	rarely := func(label string) bool { return rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, label) }
	n := planner.Need{
		Runtime: "python", Capabilities: drawCapabilities(t, "need"),
		Isolation: ontology.Isolation(rapid.IntRange(0, 2).Draw(t, "at least")),
		Callbacks: rarely("callbacks"), Network: rarely("network"), ThirdParty: rarely("third party"),
		Match: ontology.MatchPolicy(rapid.IntRange(0, 1).Draw(t, "match")),
	}
	if rarely("pin") {
		n.Rung = "r0"
	}
	return n
}

// able is the filter of DESIGN §7.1, said once more and differently.
func able(r planner.Rung, n planner.Need) bool {
	return slices.Contains(r.Languages, "python") && r.Isolation >= n.Isolation &&
		(r.Callbacks || !n.Callbacks) && (r.Network || !n.Network) && (r.ThirdParty || !n.ThirdParty) &&
		(n.Rung == "" || n.Rung == r.Name) && r.Unavailable == "" && r.BreakerOpen == ""
}

func TestPlansKeepTheirPromises(t *testing.T) {
	routes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		facts, g := drawWorld(t)
		needs := []planner.Need{drawNeed(t), drawNeed(t)}
		for _, s := range g.Snapshots { // what somebody needed before is needed again
			n := drawNeed(t)
			n.Capabilities = s.Declares
			needs = append(needs, n)
		}
		for _, need := range needs {
			checkPlan(t, facts, g, need, routes)
		}
	})
	if len(routes) != 6 { // else the worlds are too dull to prove anything
		t.Errorf("only these were met: %v", routes)
	}
	t.Log(routes)
}

// checkPlan makes a plan and holds it against the facts; it counts the routes.
func checkPlan(t *rapid.T, facts planner.Facts, g *naiveGraph, need planner.Need, routes map[string]int) {
	plan, err := planner.Decide(facts, need)
	capable := map[ontology.RungName]planner.Rung{}
	for _, r := range facts.Rungs {
		if able(r, need) {
			capable[r.Name] = r
		}
	}
	if err != nil {
		checkRefusal(t, err, facts, need, len(capable))
		return
	}
	if len(plan.Choices) != len(capable) || len(plan.Fallbacks) != len(capable)-1 || len(plan.Rungs) != len(facts.Rungs) {
		t.Fatalf("%d choices, %d fallbacks, %d verdicts for %d able rungs of %d",
			len(plan.Choices), len(plan.Fallbacks), len(plan.Rungs), len(capable), len(facts.Rungs))
	}
	if diff := cmp.Diff(plan.Choices[0], plan.Choice); diff != "" {
		t.Fatalf("the first choice is not the plan's: %s", diff)
	}
	for i, c := range plan.Choices {
		r, ok := capable[c.Rung]
		if !ok {
			t.Fatalf("%s is chosen, though it is left out", c.Rung)
		}
		if i > 0 && (plan.Choices[i-1].Score > c.Score || plan.Fallbacks[i-1] != c.Rung) {
			t.Fatalf("fallbacks are not in the order of their scores: %+v", plan.Choices)
		}
		checkChoice(t, g, r, need, c)
		routes[string(c.Route)+" "+need.Match.String()]++
	}
}

func checkRefusal(t *rapid.T, err error, facts planner.Facts, need planner.Need, capable int) {
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("an unclassified error: %v", err)
	}
	switch e.Kind {
	case errs.Unsupported, errs.Unavailable:
		waits := slices.ContainsFunc(facts.Rungs, func(r planner.Rung) bool { return r.BreakerOpen != "" })
		if e.Kind == errs.Unavailable && !waits {
			t.Fatalf("no breaker is open, and yet it is to be tried again: %+v", e)
		}
		if capable != 0 || len(e.Parts) != len(facts.Rungs) || e.Hint == "" {
			t.Fatalf("refused, with %d able rungs: %+v", capable, e)
		}
	case errs.Invalid: // only a in two versions can be wrong with these needs
		if cs := need.Capabilities; !isSubset(py("a@1", "a@2"), cs) {
			t.Fatalf("need %v is called invalid: %v", cs, err)
		}
	default:
		t.Fatalf("kind %s: %v", e.Kind, err)
	}
}

// checkChoice holds one choice against a scan of all snapshots.
func checkChoice(t *rapid.T, g *naiveGraph, r planner.Rung, need planner.Need, c planner.Choice) {
	closure := g.closed(need.Capabilities)
	find := func(id ontology.SnapshotID) naiveSnapshot {
		i := slices.IndexFunc(g.Snapshots, func(s naiveSnapshot) bool { return s.ID == id })
		if i < 0 {
			t.Fatalf("no snapshot %q", id)
		}
		s := g.Snapshots[i]
		if s.Rung != r.Name || s.Runtime != "python" || s.State == ontology.StateRetired || s.State == ontology.StateRevoked {
			t.Fatalf("%s cannot be forked for this: %+v", id, s)
		}
		return s
	}
	exact := func(s naiveSnapshot) bool { return cmp.Equal(g.closed(s.Declares), closure) }
	serves := func(s naiveSnapshot) bool {
		return isSubset(need.Capabilities, s.provides()) && (need.Match == ontology.MatchSuperset || exact(s))
	}
	if !(c.ExpectedMS > 0) || c.Missing == nil {
		t.Fatalf("expected %v ms, missing %v", c.ExpectedMS, c.Missing)
	}
	switch c.Route {
	case planner.RouteReuse:
		if s := find(c.Snapshot); !serves(s) || !r.WarmFork || c.Base != "" || len(c.Missing) != 0 {
			t.Fatalf("%+v reuses %+v", c, s)
		}
		return
	case planner.RouteBranch:
		s := find(c.Base)
		held := g.closed(s.Declares)
		for h := range held {
			if !closure[h] {
				t.Fatalf("base %+v holds %s beyond the need", s, h)
			}
		}
		for _, n := range need.Capabilities {
			if !held[n] && !slices.Contains(c.Missing, n) && !slices.Contains(s.provides(), n) {
				t.Fatalf("nobody adds %s to %+v: %+v", n, s, c)
			}
		}
		if !r.Branch || !r.WarmFork || len(c.Missing) == 0 || c.Snapshot != "" {
			t.Fatalf("%+v branches on %+v", c, r)
		}
	case planner.RouteBoot:
		if !isSubset(need.Capabilities, c.Missing) || c.Snapshot != "" || c.Base != "" {
			t.Fatalf("%+v boots without the need", c)
		}
	default:
		t.Fatalf("route %q", c.Route)
	}
	for _, s := range g.Snapshots { // whoever did not reuse had nothing to reuse
		alive := s.State == ontology.StateLive || s.State == ontology.StateStored
		if r.WarmFork && alive && s.Rung == r.Name && s.Runtime == "python" && serves(s) {
			t.Fatalf("%+v, although %+v would do", c, s)
		}
	}
}

func TestPlansDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts, _ := drawWorld(t)
		need := drawNeed(t)
		before, _ := json.Marshal(need)
		plan, err := planner.Decide(facts, need)
		if after, _ := json.Marshal(need); string(after) != string(before) {
			t.Fatalf("the need was changed: %s to %s", before, after)
		}
		facts.Rungs = rapid.Permutation(facts.Rungs).Draw(t, "rungs again")
		shuffled := need
		shuffled.Capabilities = rapid.Permutation(need.Capabilities).Draw(t, "need again")
		again, errAgain := planner.Decide(facts, shuffled)
		plan.Need, again.Need = planner.Need{}, planner.Need{}
		if diff := cmp.Diff(string(golden(plan, err)), string(golden(again, errAgain))); diff != "" {
			t.Fatalf("another order, another plan: %s", diff)
		}
	})
}

// The reward alone moves a rung by five ranks at most; the breaker does the rest.
func TestRewardAloneDoesNotPassFiveRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dead := ladder()[1]
		dead.Rank, dead.Reward = rapid.IntRange(0, 20).Draw(t, "rank"), 0
		neighbour := ladder()[2]
		neighbour.Rank = dead.Rank + rapid.IntRange(5, 20).Draw(t, "apart")
		neighbour.Reward = rapid.Float64Range(0, 0.5).Draw(t, "reward")
		facts := planner.Facts{Language: "python", Graph: &naiveGraph{}, Rungs: []planner.Rung{neighbour, dead}}
		plan, err := planner.Decide(facts, planner.Need{Runtime: "python"})
		if err != nil || plan.Rung != dead.Name {
			t.Fatalf("chose %s (%v), though %d ranks are between", plan.Rung, err, neighbour.Rank-dead.Rank)
		}
		facts.Rungs[1].BreakerOpen = "it failed 3 times in a row"
		plan, err = planner.Decide(facts, planner.Need{Runtime: "python"})
		if err != nil || plan.Rung != neighbour.Name {
			t.Fatalf("chose %s (%v), though the breaker is open", plan.Rung, err)
		}
	})
}

func TestScoreOfAnImpossibleReward(t *testing.T) {
	for _, tc := range []struct{ reward, want float64 }{
		{0.58, 14.2}, {7, 10}, {math.Inf(1), 10}, {-1, 20}, {math.NaN(), 15},
	} {
		r := ladder()[1]
		r.Reward = tc.reward
		plan, err := planner.Decide(planner.Facts{Language: "python", Graph: &naiveGraph{}, Rungs: []planner.Rung{r}}, planner.Need{Runtime: "python"})
		if err != nil || plan.Score != tc.want {
			t.Errorf("reward %v scores %v (%v), want %v", tc.reward, plan.Score, err, tc.want)
		}
	}
}

// A graph that answers badly costs time, it does not make the plan wrong.
func TestDecideDoesNotBelieveAWrongBase(t *testing.T) {
	many := make([]string, 10)
	for i := range many {
		many[i] = "m" + string(rune('a'+i))
	}
	graph := cannedGraph{bases: []kg.Candidate{{ID: "sn_WIDE", Declares: py(append(many, "a")...)}}}
	plan, err := planner.Decide(planner.Facts{Language: "python", Graph: graph, Rungs: ladder()[1:2]}, planner.Need{Runtime: "python", Capabilities: py("a", "b")})
	if err != nil || plan.Route != planner.RouteBoot {
		t.Fatalf("route %s: %v", plan.Route, err)
	}
	want := "sn_WIDE is no base: it holds py:ma, py:mb, py:mc, py:md, py:me, py:mf, py:mg, py:mh and 2 more beyond the need"
	if !slices.Contains(plan.Why, want) {
		t.Errorf("%q is not in %q", want, plan.Why)
	}
}

func TestDecideRefusesWhatMakesNoSense(t *testing.T) {
	var many []string
	for i := range planner.MaxNeed + 1 {
		many = append(many, "m"+strings.Repeat("x", i%200)+string(rune('a'+i/200)))
	}
	g := &naiveGraph{Capabilities: []naiveCapability{
		{ID: ontology.Capability(ontology.BundleNS + "all"), Bundle: true, Implies: py(many...)},
	}}
	ok := planner.Facts{Language: "python", Graph: g, Rungs: ladder()}
	for name, tc := range map[string]struct {
		facts planner.Facts
		need  planner.Need
		want  errs.Kind
	}{
		"no graph":          {planner.Facts{Language: "python"}, planner.Need{Runtime: "python"}, errs.Internal},
		"no runtime":        {ok, planner.Need{}, errs.Invalid},
		"empty capability":  {ok, planner.Need{Runtime: "python", Capabilities: []ontology.Capability{""}}, errs.Invalid},
		"unknown isolation": {ok, planner.Need{Runtime: "python", Isolation: 99}, errs.Invalid},
		"unknown match":     {ok, planner.Need{Runtime: "python", Match: 99}, errs.Invalid},
		"too many needs":    {ok, planner.Need{Runtime: "python", Capabilities: py(many...)}, errs.TooLarge},
		"too large bundle":  {ok, planner.Need{Runtime: "python", Capabilities: []ontology.Capability{g.Capabilities[0].ID}}, errs.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planner.Decide(tc.facts, tc.need)
			if got := errs.KindOf(err); err == nil || got != tc.want {
				t.Errorf("kind %s (%v), want %s", got, err, tc.want)
			}
		})
	}
}

func TestClosureIsBounded(t *testing.T) {
	wide := make([]ontology.Capability, planner.MaxClosure+1)
	for i := range wide {
		wide[i] = ontology.Capability("urn:x:" + strings.Repeat("i", i))
	}
	g := &naiveGraph{Capabilities: []naiveCapability{{ID: py("root")[0], Implies: wide}}}
	facts := planner.Facts{Language: "python", Graph: g, Rungs: ladder()}
	if _, err := planner.Decide(facts, planner.Need{Runtime: "python", Capabilities: py("root")}); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestClosureEndsOnACycle(t *testing.T) {
	g := &naiveGraph{Capabilities: []naiveCapability{
		{ID: py("a")[0], Implies: py("b")}, {ID: py("b")[0], Implies: py("a", "c@1")},
	}}
	got, err := planner.Closure(g.Capability, py("a"))
	if diff := cmp.Diff(py("a", "b", "c", "c@1"), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// A plan's JSON has lists where INTERFACES promises lists, never null.
func TestPlanJSONHasNoNullLists(t *testing.T) {
	plan, err := planner.Decide(planner.Facts{Language: "python", Graph: &naiveGraph{}, Rungs: ladder()[:1]}, planner.Need{Runtime: "python"})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(plan); err != nil || strings.Contains(string(b), "null") {
		t.Errorf("%s %v", b, err)
	}
}

// TestOpenBreakerIsNoRefusalForGood: whoever gets Unsupported gives up, so a
// rung that only its breaker keeps out must not be answered with it.
func TestOpenBreakerIsNoRefusalForGood(t *testing.T) {
	able := planner.Rung{Name: "forkserver", Isolation: ontology.IsolationProcess, Languages: []string{"python"}, BreakerOpen: "it failed"}
	away := able
	away.Unavailable = "no rights"
	for name, tc := range map[string]struct {
		rung planner.Rung
		need planner.Need
		want errs.Kind
	}{
		"open":           {able, planner.Need{}, errs.Unavailable},
		"open, pinned":   {able, planner.Need{Rung: "forkserver"}, errs.Unavailable},
		"open, and away": {away, planner.Need{}, errs.Unsupported},
		"open, no net":   {able, planner.Need{Network: true}, errs.Unsupported},
		"other asked":    {able, planner.Need{Rung: "wasm"}, errs.Unsupported},
	} {
		tc.need.Runtime = "python"
		facts := planner.Facts{Language: "python", Graph: &naiveGraph{}, Rungs: []planner.Rung{tc.rung}}
		if _, err := planner.Decide(facts, tc.need); errs.KindOf(err) != tc.want {
			t.Errorf("%s: %v, want kind %s", name, err, tc.want)
		}
	}
}
