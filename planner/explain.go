package planner

import (
	"fmt"
	"strings"

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
func (w want) reuseSentence(best CandidateVerdict, of int) string {
	s := fmt.Sprintf("reuse %s: it holds all of %s", best.Snapshot, listed(w.expanded))
	switch {
	case len(w.expanded) == 0:
		s = fmt.Sprintf("reuse %s: the job needs nothing but the runtime", best.Snapshot)
	case w.need.Match == ontology.MatchExact:
		s = fmt.Sprintf("reuse %s: it was made for just %s", best.Snapshot, listed(w.expanded))
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
	switch {
	case !r.WarmFork:
		return fmt.Sprintf("boot %s and load %s", w.need.Runtime, listed(w.expanded))
	case !r.Branch:
		return fmt.Sprintf("boot %s and load %s: no snapshot will do, and %s cannot branch one", w.need.Runtime, listed(w.expanded), r.Name)
	}
	return fmt.Sprintf("boot %s and load %s: no snapshot will do, and none is a base for it", w.need.Runtime, listed(w.expanded))
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
