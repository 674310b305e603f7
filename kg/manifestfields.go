package kg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/ontology"
	"github.com/seed-ff860830/banyan/ttl"
)

func sorted(s []string) []string { slices.Sort(s); return s }

// text1 is a member with one string.
func text1(p ontology.IRI) field {
	return func(m *manifest, s ttl.Term, n *jsonNode) error {
		text, err := textOf(n)
		if err != nil {
			return err
		}
		return m.say(n.at, s, p, ttl.NewString(text))
	}
}

// textMany is a member with a list of strings in no order.
func textMany(p ontology.IRI) field {
	one := text1(p)
	return func(m *manifest, s ttl.Term, n *jsonNode) error {
		return list(n, func(item *jsonNode) error { return one(m, s, item) })
	}
}

// number1 is a member with one number.
func number1(p ontology.IRI) field {
	return func(m *manifest, s ttl.Term, n *jsonNode) error {
		o, err := numberOf(n)
		if err != nil {
			return err
		}
		return m.say(n.at, s, p, o)
	}
}

// capabilities is a member with a list of capabilities, named as in a need.
func capabilities(p ontology.IRI) field {
	return func(m *manifest, s ttl.Term, n *jsonNode) error {
		return list(n, func(item *jsonNode) error {
			c, err := m.capability(item)
			if err != nil {
				return err
			}
			return m.say(item.at, s, p, iri(c.IRI()))
		})
	}
}

// capability reads one name.
func (m *manifest) capability(n *jsonNode) (ontology.Capability, error) {
	text, err := textOf(n)
	if err != nil {
		return "", err
	}
	c, err := ontology.ParseCapability(m.ns, text)
	if err != nil {
		return "", &jsonFault{n.at, quote(text) + " is not a capability: " + badCapability}
	}
	return c, nil
}

// args is the list of arguments, in order.
func (m *manifest) args(s ttl.Term, n *jsonNode) error {
	cell := func() ttl.Term { m.cells++; return ttl.NewBlank(fmt.Sprint("args", m.cells)) }
	nilTerm, at, p := ttl.NewIRI(ttl.RDFNil), s, ontology.PropArguments
	err := list(n, func(item *jsonNode) error {
		text, ok := item.value.(string)
		if !ok || item.kind != 0 || strings.ContainsRune(text, 0) {
			return &jsonFault{item.at, "an argument is a string"}
		}
		next := cell()
		if err := m.say(item.at, at, p, next); err != nil {
			return err
		}
		at, p = next, ttl.RDFRest
		return m.say(item.at, next, ttl.RDFFirst, ttl.NewString(text))
	})
	if err != nil {
		return err
	}
	return m.say(n.at, at, p, nilTerm)
}

// namespace is where the names of the runtime's modules live.
func (m *manifest) namespace(s ttl.Term, n *jsonNode) error {
	if !ttl.ValidIRI(string(m.ns)) {
		return &jsonFault{n.at, "the namespace is an absolute IRI"}
	}
	return m.say(n.at, s, ontology.PropCapabilityNamespace, iri(m.ns))
}

// standardModules is one string in the graph.
func (m *manifest) standardModules(s ttl.Term, n *jsonNode) error {
	var names []string
	err := list(n, func(item *jsonNode) error {
		text, err := textOf(item)
		names = append(names, text)
		if err == nil && !moduleName(text) {
			err = &jsonFault{item.at, quote(text) + " is not the name of a module"}
		}
		return err
	})
	if err != nil {
		return err
	}
	return m.say(n.at, s, ontology.PropStandardModules, ttl.NewString(strings.Join(names, " ")))
}

// limits are what a job has that does not say.
func (m *manifest) limits(s ttl.Term, n *jsonNode) error {
	return m.read(n, s, limitFields, "defaultLimits")
}

// modules are the modules that the manifest describes.
func (m *manifest) modules(_ ttl.Term, n *jsonNode) error {
	return list(n, func(item *jsonNode) error {
		return m.described(item, ontology.ClassModule, "a capability", m.capability)
	})
}

// bundles are names for several capabilities; without a scheme they live in
// the namespace of bundles.
func (m *manifest) bundles(_ ttl.Term, n *jsonNode) error {
	return list(n, func(item *jsonNode) error {
		return m.described(item, ontology.ClassBundle, "a bundle", func(name *jsonNode) (ontology.Capability, error) {
			text, err := textOf(name)
			if err != nil {
				return "", err
			}
			if !strings.Contains(text, ":") {
				name = &jsonNode{value: "bundle:" + text, at: name.at}
			}
			return m.capability(name)
		})
	})
}

// described reads one object about a capability.
func (m *manifest) described(n *jsonNode, class ontology.IRI, what string, named func(*jsonNode) (ontology.Capability, error)) error {
	for _, x := range n.members {
		if x.name != "name" {
			continue
		}
		c, err := named(x.value)
		if err != nil {
			return err
		}
		s := iri(c.IRI())
		if err := m.say(n.at, s, ontology.RDFType, iri(class)); err != nil {
			return err
		}
		return m.read(n, s, capabilityFields, what)
	}
	return &jsonFault{n.at, what + " is an object with a member \"name\""}
}
