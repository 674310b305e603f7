package banyan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/internal/nearest"
	"github.com/seed-ff860830/banyan/kg"
	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/planner"
	"github.com/seed-ff860830/banyan/rungs"
)

// DefaultRuntime is the runtime of a job that names none.
const DefaultRuntime = ontology.RuntimeID("python")

// MaxNeed bounds how many capabilities one need may name.
const MaxNeed = 64

// request is a job that was checked and understood.
type request struct {
	runtime kg.Runtime
	need    planner.Need
	// inferred says that the capabilities were read from the code's imports.
	// Such a need is a guess: it never makes a job fail.
	inferred bool
}

// jobRequest reads a job's need.
func (e *Engine) jobRequest(j Job, view *kg.View) (request, error) {
	rt, err := e.runtime(j.Runtime)
	if err != nil {
		return request{}, err
	}
	req := request{runtime: rt, need: planner.Need{
		Runtime: rt.ID, Isolation: leastIsolation(j.Isolation, j.Rung), Callbacks: len(j.Callbacks) > 0,
		Network: j.Network, Rung: j.Rung, Match: j.Match,
	}}
	if j.Need == nil {
		req.inferred = true
		names := planner.DropLocal(planner.Imports(rt.Language, j.Code), paths(j.Files))
		req.need.Capabilities = planner.NeedFromImports(names, rt, view.Capability)
	} else if req.need.Capabilities, err = parseNeed(j.Need, rt); err != nil {
		return request{}, err
	}
	req.need.ThirdParty = thirdParty(req.need.Capabilities, rt)
	return req, e.checkRung(req.need.Rung)
}

func paths(files []File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// thirdParty reports whether any capability is beyond the runtime's own modules.
func thirdParty(cs []ontology.Capability, rt kg.Runtime) bool {
	return slices.ContainsFunc(cs, func(c ontology.Capability) bool {
		top, _, _ := strings.Cut(c.Module(), ".")
		return !slices.Contains(rt.StandardModules, top)
	})
}

// warmRequest reads the need of a snapshot to be made.
func (e *Engine) warmRequest(w WarmRequest) (request, error) {
	if w.Setup != "" {
		return request{}, errs.New(errs.Unsupported, "set-up code is not available in this version").
			WithParts(errs.Part{Pointer: "/setup", Detail: "leave it out"})
	}
	rt, err := e.runtime(w.Runtime)
	if err != nil {
		return request{}, err
	}
	need, err := parseNeed(w.Need, rt)
	if err != nil {
		return request{}, err
	}
	req := request{runtime: rt, need: planner.Need{
		Runtime: rt.ID, Rung: w.Rung, Capabilities: need, Isolation: leastIsolation(nil, w.Rung),
	}}
	req.need.ThirdParty = thirdParty(need, rt)
	return req, e.checkRung(w.Rung)
}

// leastIsolation is what was asked for, else process. Running without walls is
// never a default, also where the operator allows it: who wants it says so, by
// the level or by the rung's name.
func leastIsolation(asked *ontology.Isolation, rung ontology.RungName) ontology.Isolation {
	switch {
	case asked != nil:
		return *asked
	case rung != "":
		return ontology.IsolationNone
	}
	return ontology.IsolationProcess
}

// runtime finds a runtime by its name.
func (e *Engine) runtime(id ontology.RuntimeID) (kg.Runtime, error) {
	if id == "" {
		id = DefaultRuntime
	}
	if !id.Valid() {
		return kg.Runtime{}, invalidAt("/runtime", "%q is not the name of a runtime", string(id))
	}
	rt, ok := e.store.Runtime(id)
	if !ok {
		return kg.Runtime{}, errs.New(errs.Invalid, "the runtime %q is not known%s; known: %s", string(id), meant(string(id), e.runtimeNames()), strings.Join(e.runtimeNames(), ", ")).
			WithParts(errs.Part{Pointer: "/runtime", Detail: "not known"}).
			WithHint("declare it in Turtle and import it: banyan import runtimes.ttl")
	}
	if e.cfg.Python != "" && rt.ID == DefaultRuntime {
		rt.Executable = e.cfg.Python
	}
	if len(rt.StandardModules) == 0 {
		rt.StandardModules = e.standardModules(rt.Language)
	}
	return rt, nil
}

// standardModules lends a runtime that does not list its standard modules the
// list of the built-in one of its language.
func (e *Engine) standardModules(language string) []string {
	for _, rt := range e.store.Runtimes() {
		if rt.Language == language && len(rt.StandardModules) > 0 {
			return rt.StandardModules
		}
	}
	return nil
}

func (e *Engine) runtimeNames() []string {
	var names []string
	for _, rt := range e.store.Runtimes() {
		names = append(names, string(rt.ID))
	}
	return names
}

// parseNeed reads a need as users write it.
func parseNeed(need []string, rt kg.Runtime) ([]ontology.Capability, error) {
	if len(need) > MaxNeed {
		return nil, invalidAt("/need", "%d capabilities are needed; at most %d are allowed", len(need), MaxNeed)
	}
	out := make([]ontology.Capability, 0, len(need))
	for i, s := range need {
		c, err := ontology.ParseCapability(rt.Namespace, strings.TrimSpace(s))
		if err != nil {
			return nil, invalidAt(fmt.Sprintf("/need/%d", i), "need: %s", err)
		}
		out = append(out, c)
	}
	return ontology.SortCapabilities(out), nil
}

// checkRung refuses a rung that this engine does not have.
func (e *Engine) checkRung(name ontology.RungName) error {
	if name == "" || e.rungs[name] != nil {
		return nil
	}
	return errs.New(errs.Invalid, "there is no rung %q%s; there are: %s", string(name), meant(string(name), e.rungNames()), strings.Join(e.rungNames(), ", ")).
		WithParts(errs.Part{Pointer: "/rung", Detail: "not known"})
}

// meant is the clause that guesses what a mistyped name was to be, or "".
func meant(name string, known []string) string {
	if guess := nearest.Of(name, known); guess != "" {
		return fmt.Sprintf(" (did you mean %q?)", guess)
	}
	return ""
}

// spec makes the spec of a parent that holds the need and nothing else.
func (e *Engine) spec(req request, view *kg.View) (rungs.Spec, error) {
	rt := req.runtime
	s := rungs.Spec{Runtime: rungs.Runtime{
		ID: rt.ID, Language: rt.Language, Version: rt.Version, Executable: rt.Executable, Args: rt.Args, Namespace: rt.Namespace,
	}}
	members, err := planner.Expand(view.Capability, req.need.Capabilities)
	if err != nil {
		return rungs.Spec{}, err
	}
	for _, c := range members {
		m, err := moduleOf(c, rt, view)
		if err != nil {
			return rungs.Spec{}, err
		}
		s.Modules = append(s.Modules, m)
	}
	return s, s.Validate()
}

// moduleOf returns what has to be imported for one capability.
func moduleOf(c ontology.Capability, rt kg.Runtime, view *kg.View) (rungs.Module, error) {
	m := rungs.Module{Capability: c, ImportName: c.Module(), Version: c.Version()}
	if known, ok := view.Capability(c.Unversioned()); ok && known.ImportName != "" {
		m.ImportName = known.ImportName
		return m, nil
	}
	if !strings.HasPrefix(string(c), string(rt.Namespace)) {
		return rungs.Module{}, errs.New(errs.Invalid, "nothing in the graph says how to load %s", c.Short()).
			WithHint("declare it with a bn:importName and import the file: banyan import capabilities.ttl")
	}
	return m, nil
}
