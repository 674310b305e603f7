package planner

import (
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
)

// MaxNeed bounds the capabilities of one need, bundles expanded.
const MaxNeed = 256

// MaxClosure bounds what the capabilities of one need or snapshot imply.
const MaxClosure = 4096

// Known answers what the graph knows of a capability; Graph.Capability is one.
type Known func(ontology.Capability) (kg.Capability, bool)

// Expand returns the need with every bundle replaced by what it implies,
// sorted, without duplicates and without bundles. The error is Invalid for a
// bundle that nobody declared or that stands for nothing, TooLarge past MaxNeed.
func Expand(known Known, need []ontology.Capability) ([]ontology.Capability, error) {
	if len(need) > MaxNeed {
		return nil, tooManyNeeds()
	}
	out := make([]ontology.Capability, 0, len(need))
	for _, c := range need {
		if c == "" {
			return nil, errs.New(errs.Invalid, "the need holds an empty capability")
		}
		k, ok := known(c)
		if !k.Bundle && !inBundleNS(c) {
			out = append(out, c)
			continue
		}
		members := withoutBundles(known, k.Implies)
		if !ok {
			return nil, errs.New(errs.Invalid, "%s is not declared", c.Short()).
				WithHint("import a capability file that declares it, or name the modules themselves")
		}
		if len(members) == 0 {
			return nil, errs.New(errs.Invalid, "%s stands for nothing", c.Short()).
				WithHint("declare with bn:implies what it holds")
		}
		out = append(out, members...)
		if len(out) > MaxClosure {
			return nil, tooManyNeeds()
		}
	}
	if out = ontology.SortCapabilities(out); len(out) > MaxNeed {
		return nil, tooManyNeeds()
	}
	return out, nil
}

func tooManyNeeds() error {
	return errs.New(errs.TooLarge, "the need has more than %d capabilities", MaxNeed)
}

// Closure returns cs with all that they imply: what the graph declares, and the
// unversioned module of a versioned one. It is sorted and holds no bundles. Two
// sets of capabilities ask for the same thing if their closures are equal. The
// error is TooLarge past MaxClosure.
func Closure(known Known, cs []ontology.Capability) ([]ontology.Capability, error) {
	todo := slices.Clone(cs)
	seen := make(map[ontology.Capability]bool, 2*len(cs))
	out := make([]ontology.Capability, 0, 2*len(cs))
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[c] {
			continue
		}
		if seen[c] = true; len(seen) > MaxClosure {
			return nil, errs.New(errs.TooLarge, "the capabilities imply more than %d others", MaxClosure)
		}
		k, _ := known(c)
		if !k.Bundle && !inBundleNS(c) {
			out = append(out, c)
		}
		if u := c.Unversioned(); u != c {
			todo = append(todo, u)
		}
		for _, i := range k.Implies {
			if !seen[i] {
				todo = append(todo, i)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// withoutBundles drops the bundles of a closure: what they imply is in it.
func withoutBundles(known Known, cs []ontology.Capability) []ontology.Capability {
	out := make([]ontology.Capability, 0, len(cs))
	for _, c := range cs {
		if k, _ := known(c); !k.Bundle && !inBundleNS(c) {
			out = append(out, c)
		}
	}
	return out
}

func inBundleNS(c ontology.Capability) bool {
	return strings.HasPrefix(string(c), string(ontology.BundleNS))
}

// twoVersions returns the first two capabilities of a sorted closure that are
// one module in two versions. No process can hold both.
func twoVersions(closure []ontology.Capability) (a, b ontology.Capability, ok bool) {
	byModule := map[ontology.Capability]ontology.Capability{}
	for _, c := range closure {
		if c.Version() == "" {
			continue
		}
		if first, twice := byModule[c.Unversioned()]; twice {
			return first, c, true
		}
		byModule[c.Unversioned()] = c
	}
	return "", "", false
}

// contains reports whether the sorted set holds c.
func contains(sorted []ontology.Capability, c ontology.Capability) bool {
	_, ok := slices.BinarySearch(sorted, c)
	return ok
}

// minus returns what the sorted set a has beyond the sorted set b.
func minus(a, b []ontology.Capability) []ontology.Capability {
	var out []ontology.Capability
	for _, c := range a {
		if !contains(b, c) {
			out = append(out, c)
		}
	}
	return out
}
