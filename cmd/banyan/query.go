package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	banyan "github.com/seed-ff860830/banyan"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/config"
	"github.com/seed-ff860830/banyan/cmd/banyan/internal/units"
	"github.com/seed-ff860830/banyan/internal/errs"
	"github.com/seed-ff860830/banyan/ontology"
)

// queryOptions are the flags of query.
type queryOptions struct {
	text         sparqlText
	format       string
	defaultGraph []string
	namedGraph   []string
	timeout      string
	limitRows    int
	set          *config.Set

	within time.Duration // timeout, parsed; 0 for none
}

// queryLong ends with the four questions of the planner, as SPARQL: they are
// what most people who ask the graph want to know.
const queryLong = `Ask the graph in SPARQL 1.1: SELECT, ASK, CONSTRUCT or DESCRIBE. The default graph is the
union of all graphs unless FROM, --default-graph or --named-graph name a dataset. The
table is for people: it shortens IRIs by the prefixes bn, py, bundle, rdf, rdfs, owl, xsd,
prov, dcterms, skos, spdx (which a query has to declare) and cuts what is longer than 60
characters. The other formats give every term whole. An answer that passes a bound or
breaks off is an error and never a shorter answer.`

const queryExample = `  banyan query 'SELECT * WHERE { ?s ?p ?o } LIMIT 10'

  # Which live snapshots hold all of numpy and pandas, the smallest first?
  banyan query 'PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
  PREFIX py: <https://seed-ff860830.github.io/banyan/py/>
  SELECT ?snapshot ?bytes WHERE {
    ?snapshot bn:state bn:Live ; bn:provides py:numpy, py:pandas ; bn:residentBytes ?bytes
  } ORDER BY ?bytes ?snapshot'

  # Which live snapshot is the best base for numpy, pandas and scipy: of what it was
  # made for nothing is beside the need, and the most is there?
  banyan query 'PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
  PREFIX py: <https://seed-ff860830.github.io/banyan/py/>
  SELECT ?snapshot (COUNT(?had) AS ?saved) WHERE {
    ?snapshot bn:state bn:Live .
    OPTIONAL { ?snapshot bn:provides ?had . FILTER(?had IN (py:numpy, py:pandas, py:scipy)) }
    FILTER NOT EXISTS {
      ?snapshot bn:declares ?extra . FILTER(?extra NOT IN (py:numpy, py:pandas, py:scipy)) }
  } GROUP BY ?snapshot ORDER BY DESC(?saved) ?snapshot LIMIT 1'

  # What was a snapshot derived from?
  banyan query 'PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
  SELECT ?ancestor WHERE {
    ?snapshot bn:derivedFrom+ ?ancestor .
    FILTER(STRENDS(STR(?snapshot), "sn_01JE…")) }'

  # What must go if one version of numpy is bad: all that hold it, and all below them?
  banyan query 'PREFIX bn: <https://seed-ff860830.github.io/banyan/ns#>
  PREFIX py: <https://seed-ff860830.github.io/banyan/py/>
  SELECT DISTINCT ?snapshot WHERE {
    ?snapshot bn:derivedFrom* ?bad . ?bad bn:provides <https://seed-ff860830.github.io/banyan/py/numpy@1.24.2> }'`

// newQueryCmd makes "banyan query"; runF replaces what it does, in tests.
func newQueryCmd(a *app, runF func(context.Context, *queryOptions) error) *cobra.Command {
	o := &queryOptions{}
	cmd := &cobra.Command{
		Use:     "query [QUERY|-]",
		Short:   "Ask the graph in SPARQL",
		Long:    queryLong,
		Example: queryExample,
		Args:    between(0, 1, "one QUERY"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := o.parse(cmd, args); err != nil {
				return err
			}
			if o.set, err = a.settings(cmd); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return a.query(cmd.Context(), o)
		},
	}
	o.text.addFlags(cmd, "query")
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "table, json, xml, csv or tsv; for CONSTRUCT and DESCRIBE table, turtle or ntriples (default: table, or turtle)")
	f.StringArrayVar(&o.defaultGraph, "default-graph", nil, "IRI of a graph whose triples are the default graph; repeatable")
	f.StringArrayVar(&o.namedGraph, "named-graph", nil, "IRI of a graph that GRAPH finds; repeatable")
	f.StringVar(&o.timeout, "timeout", "", "limit on the time until the whole answer is there, such as 10s; the engine's own holds as well")
	f.IntVar(&o.limitRows, "limit-rows", 0, "limit on rows or triples; an answer with more is an error (default: the engine's)")
	completeValues(cmd, "format", "table", "json", "xml", "csv", "tsv", "turtle", "ntriples")
	return cmd
}

// completeValues lets a shell complete the values of a flag.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	// It fails only for a flag that is not there or has a completion already.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// parse checks the flags.
func (o *queryOptions) parse(cmd *cobra.Command, args []string) (err error) {
	switch o.format {
	case "", "table", "json", "xml", "csv", "tsv", "turtle", "ntriples":
	default:
		return usage(cmd, "--format %q is not one of table, json, xml, csv, tsv, turtle, ntriples", o.format)
	}
	if err := o.text.parse(cmd, args, "query"); err != nil {
		return err
	}
	if err := plainIRIs(cmd, "default-graph", o.defaultGraph); err != nil {
		return err
	}
	if err := plainIRIs(cmd, "named-graph", o.namedGraph); err != nil {
		return err
	}
	if o.within, err = positiveDuration(cmd, "timeout", o.timeout); err != nil {
		return err
	}
	if cmd.Flags().Changed("limit-rows") && o.limitRows < 1 {
		return usage(cmd, "--limit-rows %d is not above zero", o.limitRows)
	}
	return nil
}

// positiveDuration reads the value of a flag; 0 if it was not given.
func positiveDuration(cmd *cobra.Command, flag, value string) (time.Duration, error) {
	if !cmd.Flags().Changed(flag) {
		return 0, nil
	}
	d, err := units.ParseDuration(value)
	if err != nil {
		return 0, usage(cmd, "--%s: %v", flag, err)
	}
	if d <= 0 {
		return 0, usage(cmd, "--%s %q is not above zero", flag, value)
	}
	return d, nil
}

// query asks and prints.
func (a *app) query(ctx context.Context, o *queryOptions) error {
	query, err := o.text.read(ctx, a)
	if err != nil {
		return err
	}
	return a.using(ctx, o.set, func(b backend) error {
		ctx, cancel := bounded(ctx, o.within)
		defer cancel()
		opt := banyan.QueryOptions{DefaultGraphs: iris(o.defaultGraph), NamedGraphs: iris(o.namedGraph), Timeout: o.within, MaxRows: o.limitRows}
		res, err := b.Query(ctx, query, opt)
		if err == nil {
			err = a.printAnswer(res, o)
		}
		return timedOut(ctx, o.text.pointAt(err, query), o.within)
	})
}

// iris converts the values of a flag that were checked.
func iris(all []string) (out []ontology.IRI) {
	for _, s := range all {
		out = append(out, ontology.IRI(s))
	}
	return out
}

// bounded ends a context after d; d of 0 is no bound.
func bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// timedOut tells an end by the user's own bound from other ends: whichever
// side noticed it first, it is the same.
func timedOut(ctx context.Context, err error, bound time.Duration) error {
	if err == nil || bound == 0 || context.Cause(ctx) != context.DeadlineExceeded { //nolint:errorlint // the cause is the context's own, never wrapped
		return err
	}
	return errs.Wrap(errs.Timeout, err, "no whole answer within %v", bound).WithHint("banyan query --timeout %v …", 2*bound)
}
