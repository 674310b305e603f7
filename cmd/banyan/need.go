package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// needFlag is --need: names separated by commas, repeatable. Given but empty
// it means "nothing", left out it means "read it from the code".
type needFlag struct {
	texts []string
	given bool
}

func (n *needFlag) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&n.texts, "need", nil,
		"modules to hold, such as numpy,pandas@1.5.3; '' for none (default: read from the code's imports); repeatable")
}

// names returns the needs; nil if the flag was not given, empty if it was
// given and names nothing.
func (n *needFlag) names() []string {
	if !n.given {
		return nil
	}
	names := []string{}
	for _, text := range n.texts {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
