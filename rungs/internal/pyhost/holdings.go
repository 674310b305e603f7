package pyhost

import (
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
)

// MaxHoldings bounds what one agent can make the graph record; it is the bound
// of the agent's own report.
const MaxHoldings = 4096

// Holdings turns an agent's report, names and versions, into capabilities. The
// report is untrusted: names that cannot be capabilities are left out. A module
// that the spec names by a capability of another name ("py:scikit-learn" for
// sklearn) is held under both.
func Holdings(spec rungs.Spec, held [][2]string) []rungs.Holding {
	out := make([]rungs.Holding, 0, min(len(held), MaxHoldings))
	seen := make(map[ontology.Capability]bool, len(out))
	add := func(c ontology.Capability, version string) {
		if !seen[c] && len(out) < MaxHoldings {
			seen[c] = true
			out = append(out, rungs.Holding{Capability: c, Version: version})
		}
	}
	versions := Versions(held)
	for _, m := range spec.Modules {
		if v, ok := versions[m.ImportName]; ok && m.Capability != "" {
			add(m.Capability.Unversioned(), v)
		}
	}
	for _, h := range held {
		if strings.Contains(h[0], "@") {
			continue
		}
		if c, err := ontology.NewCapability(spec.Runtime.Namespace, h[0]); err == nil {
			add(c, versions[h[0]])
		}
	}
	return out
}

// Versions returns the versions of a report by module, "" for one that is not
// a version.
func Versions(held [][2]string) map[string]string {
	versions := make(map[string]string, len(held))
	for _, h := range held {
		versions[h[0]] = ""
		if _, err := ontology.NewCapability("", "x@"+h[1]); err == nil {
			versions[h[0]] = h[1]
		}
	}
	return versions
}

// CheckVersions returns an Invalid error if a module of the spec is there in
// another version than the spec asks for.
func CheckVersions(spec rungs.Spec, versions map[string]string) error {
	for _, m := range spec.Modules {
		got := versions[m.ImportName]
		if m.Version == "" || got == m.Version {
			continue
		}
		if got == "" {
			got = "unknown"
		}
		return errs.New(errs.Invalid, "module %s is wanted in version %s; the version here is %s", m.ImportName, m.Version, got)
	}
	return nil
}
