package banyan

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// recordSnapshot writes a new parent into the graph, before anyone may use it.
// It refuses a parent that does not hold what was asked of it.
func (e *Engine) recordSnapshot(ctx context.Context, l rungs.Live) error {
	view := e.store.View()
	s := kg.Snapshot{
		ID: l.ID, DerivedFrom: l.DerivedFrom, Rung: l.Rung, Runtime: l.Spec.Runtime.ID, SpecKey: l.Key,
		State: ontology.StateLive, Node: e.cfg.Node, CreatedAt: l.Created, ExpiresAt: l.Created.Add(e.cfg.MaxAge),
	}
	stats := l.Parent.Stats()
	s.WarmMillis, s.ResidentBytes = ms(stats.Warm), stats.ResidentBytes
	var err error
	if s.Declares, err = closure(l.Spec.Capabilities(), view); err != nil {
		return err
	}
	asked, err := askedFor(l)
	if err != nil {
		return err
	}
	room := max(0, kg.MaxHolds-len(s.Declares)-len(asked))
	seen := observed(l)
	if len(seen) > room {
		e.log.WarnContext(ctx, "a parent holds more than the graph takes of one; the deepest names are left out",
			"snapshot", l.ID, "seen", len(seen), "kept", room)
		seen = seen[:room]
	}
	s.Provides = ontology.SortCapabilities(append(seen, asked...))
	return e.store.PutSnapshot(ctx, s)
}

// observed returns what the agent found loaded, with and without versions, the
// names with the fewest dots first: who needs a module mostly names its top.
func observed(l rungs.Live) []ontology.Capability {
	holds := slices.Clone(l.Parent.Holds())
	slices.SortStableFunc(holds, func(a, b rungs.Holding) int {
		return strings.Count(a.Capability.Module(), ".") - strings.Count(b.Capability.Module(), ".")
	})
	out := make([]ontology.Capability, 0, len(holds))
	for _, h := range holds {
		out = append(out, h.Capability)
		if h.Version == "" {
			continue
		}
		if c, err := ontology.NewCapability(l.Spec.Runtime.Namespace, h.Capability.Module()+"@"+h.Version); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// askedFor returns the names that were asked for, which a module may not load
// under. A version that was asked for and is not there is refused.
func askedFor(l rungs.Live) ([]ontology.Capability, error) {
	versions := map[string]string{}
	for _, h := range l.Parent.Holds() {
		versions[h.Capability.Module()] = h.Version
	}
	var out []ontology.Capability
	for _, m := range l.Spec.Modules {
		version := versions[m.ImportName]
		switch {
		case m.Version != "" && version == "":
			return nil, errs.New(errs.Invalid, "%s was asked for, but the runtime does not tell its version", m.Capability.Short())
		case m.Version != "" && m.Version != version:
			return nil, errs.New(errs.Invalid, "%s was asked for, but version %q is installed", m.Capability.Short(), version)
		}
		out = append(out, m.Capability, m.Capability.Unversioned())
	}
	return ontology.SortCapabilities(out), nil
}
