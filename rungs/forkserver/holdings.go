package forkserver

import (
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/rungs"
	"github.com/seed-ff860830/banyan/rungs/agent"
)

// maxHoldings bounds what an agent can make the graph record; it is the bound
// of the agent's own report.
const maxHoldings = 4096

// holdings turns an agent's report into capabilities. The report is untrusted:
// names that cannot be capabilities are left out. Modules that the spec names
// by a capability of another name ("py:scikit-learn" for sklearn) are held
// under both.
func holdings(spec rungs.Spec, held [][2]string) []rungs.Holding {
	out := make([]rungs.Holding, 0, len(held))
	seen := make(map[ontology.Capability]bool, len(held))
	add := func(c ontology.Capability, version string) {
		if !seen[c] && len(out) < maxHoldings {
			seen[c] = true
			out = append(out, rungs.Holding{Capability: c, Version: version})
		}
	}
	versions := make(map[string]string, len(held))
	for _, h := range held {
		versions[h[0]] = validVersion(h[1])
	}
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

// validVersion returns v if it can stand in a capability, else "".
func validVersion(v string) string {
	if _, err := ontology.NewCapability("", "x@"+v); err != nil {
		return ""
	}
	return v
}

// checkVersions returns an Invalid error if a module is there in another
// version than the spec asks for.
func checkVersions(spec rungs.Spec, loaded []agent.LoadedModule) error {
	found := make(map[string]string, len(loaded))
	for _, m := range loaded {
		found[m.Name] = validVersion(m.Version)
	}
	for _, m := range spec.Modules {
		got, ok := found[m.ImportName]
		if m.Version == "" || ok && got == m.Version {
			continue
		}
		if got == "" {
			got = "unknown"
		}
		return errs.New(errs.Invalid, "module %s is wanted in version %s; the version here is %s", m.ImportName, m.Version, got)
	}
	return nil
}

// merge returns what a branch is to hold: the base's modules and the new ones.
func merge(base, add rungs.Spec) rungs.Spec {
	out := base
	out.Modules = append([]rungs.Module(nil), base.Modules...)
	have := make(map[string]bool, len(base.Modules))
	for _, m := range base.Modules {
		have[string(m.Capability)+"\x00"+m.ImportName] = true
	}
	for _, m := range add.Modules {
		if key := string(m.Capability) + "\x00" + m.ImportName; !have[key] {
			have[key] = true
			out.Modules = append(out.Modules, m)
		}
	}
	if add.Setup != "" && add.Setup != base.Setup {
		if out.Setup != "" {
			out.Setup += "\n"
		}
		out.Setup += add.Setup
	}
	return out
}
