package planner

import (
	"fmt"
	"strings"

	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// maxListed bounds the capabilities that one sentence names.
const maxListed = 8

// listed names capabilities as people write them: "py:numpy, py:pandas".
func listed(cs []ontology.Capability) string {
	if len(cs) == 0 {
		return "nothing"
	}
	names := make([]string, 0, min(len(cs), maxListed))
	for _, c := range cs[:min(len(cs), maxListed)] {
		names = append(names, c.Short())
	}
	s := strings.Join(names, ", ")
	if len(cs) > maxListed {
		s += fmt.Sprintf(" and %d more", len(cs)-maxListed)
	}
	return s
}

// rungSentence explains one rung's place on the ladder, or its absence.
func rungSentence(r Rung, v RungVerdict) string {
	if v.LeftOut != "" {
		return fmt.Sprintf("%s left out: %s", r.Name, v.LeftOut)
	}
	return fmt.Sprintf("%s: score %.1f = rank %d − %d·(%.2f − %.1f)", r.Name, v.Score, r.Rank, nudge, r.reward(), neutralReward)
}

// reuseSentence explains a snapshot that is forked as it is.
func (w want) reuseSentence(best kg.Candidate, of int) string {
	s := fmt.Sprintf("reuse %s: it holds all of %s", best.ID, listed(w.expanded))
	switch {
	case len(w.expanded) == 0:
		s = fmt.Sprintf("reuse %s: the job needs nothing but the runtime", best.ID)
	case w.need.Match == ontology.MatchExact:
		s = fmt.Sprintf("reuse %s: it was made for just %s", best.ID, listed(w.expanded))
	case best.Extra > 0:
		s += fmt.Sprintf(", and %d more", best.Extra)
	}
	if of > 1 {
		s += fmt.Sprintf("; the cheapest of %d that do", of)
	}
	return s
}

// branchSentence explains a base and what is added to it.
func (w want) branchSentence(o *option) string {
	what := ", and none holds all"
	if len(w.expanded) == 1 {
		what = ", and none holds it"
	}
	s := fmt.Sprintf("branch %s: it lacks only %s%s", o.choice.Base, listed(o.choice.Missing), what)
	if n := len(o.candidates); n > 1 {
		s += fmt.Sprintf("; the best of %d bases", n)
	}
	return s
}

// bootSentence explains why nothing that is there will do.
func (w want) bootSentence(r Rung) string {
	s := fmt.Sprintf("boot %s", w.need.Runtime)
	if len(w.expanded) > 0 {
		s += " and load " + listed(w.expanded)
	}
	switch {
	case !r.WarmFork:
		return s
	case !r.Branch:
		return s + fmt.Sprintf(": no snapshot will do, and %s cannot branch one", r.Name)
	}
	return s + ": no snapshot will do, and none is a base for it"
}

// reuseCost, branchCost and bootCost say what is expected, and of what it is made.
func reuseCost(fork cost) string {
	return fmt.Sprintf("expected %.1f ms: one fork%s", fork.ms, guesses(named{"fork", fork}))
}

func branchCost(imports, fork cost) string {
	return fmt.Sprintf("expected %.1f ms: import %.1f + two forks of %.1f%s",
		imports.ms+2*fork.ms, imports.ms, fork.ms, guesses(named{"import", imports}, named{"fork", fork}))
}

func bootCost(boot, imports, fork cost) string {
	return fmt.Sprintf("expected %.1f ms: boot %.1f + import %.1f + fork %.1f%s",
		boot.ms+imports.ms+fork.ms, boot.ms, imports.ms, fork.ms, guesses(named{"boot", boot}, named{"import", imports}, named{"fork", fork}))
}

// named is a cost with what it is for.
type named struct {
	what string
	cost cost
}

// guesses names those of the costs that are defaults.
func guesses(costs ...named) string {
	var names []string
	for _, n := range costs {
		if n.cost.guess {
			names = append(names, n.what)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (not measured yet, so a default: %s)", strings.Join(names, ", "))
}

// bundleSentences say what the need's bundles stand for.
func bundleSentences(known Known, need []ontology.Capability) []string {
	var out []string
	for _, c := range ontology.SortCapabilities(need) {
		if k, _ := known(c); k.Bundle || inBundleNS(c) {
			out = append(out, fmt.Sprintf("%s stands for %s", c.Short(), listed(withoutBundles(known, k.Implies))))
		}
	}
	return out
}

// fallbackSentence names what is tried if the rung fails.
func fallbackSentence(chosen ontology.RungName, fallbacks []ontology.RungName) string {
	if len(fallbacks) == 0 {
		return fmt.Sprintf("there is no fallback if %s fails", chosen)
	}
	names := make([]string, len(fallbacks))
	for i, f := range fallbacks {
		names[i] = string(f)
	}
	return fmt.Sprintf("if %s fails before the job has started: %s", chosen, strings.Join(names, ", then "))
}
