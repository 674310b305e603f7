package forkserver

import "github.com/seed-ff860830/banyan/rungs"

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
