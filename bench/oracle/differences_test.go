package oracle

// difference is something that an engine beside ours does not do as the
// specification says.
type difference struct {
	engine  string
	section string   // of the specification, and what it says
	avoid   []string // what is not drawn for this engine
}

var differences = []difference{
	{"Oxigraph", "RDF 1.1 Concepts, 3.3: terms are equal to the letter; it keeps numbers and truths by value, and drops derived types", []string{
		`"01"^^xsd:integer`, `"+5"^^xsd:integer`, `1.0`, `".5"^^xsd:decimal`, `1.0e0`, `2.5e1`, `"-0.0E0"^^xsd:double`, `"1"^^xsd:boolean`,
		`"7"^^xsd:int`, `"7"^^xsd:byte`, `"300"^^xsd:byte`}},
	{"Oxigraph", "SPARQL 18.4: an alternative is a union and keeps duplicates; it drops some", []string{"|", "!(:p|^:q)"}},
	{"Oxigraph", "Update 3.2.3 to 3.2.5: no source is an error, which SILENT makes a success; it takes the source for empty and clears the target", []string{"COPY of nothing"}},
	{"Oxigraph", "SPARQL 18.4: a path of no steps from a term finds the term, in the graph or not; it finds nothing for one that is not there", []string{"path of a term"}},
	{"Oxigraph", "SPARQL 17.4.1.7: literals that are not the same term compare with an error; it takes kinds that it knows for unequal", []string{"unequal kinds"}},
	{"Oxigraph", "SPARQL 17.3: < has numbers, strings, truths and times; it has tagged strings too, and neither truths nor NaN", []string{"order of kinds"}},
	{"Oxigraph", "SPARQL 18.5.1.2: COUNT leaves out what is an error; it gives none if there is one", []string{"COUNT of errors"}},
	{"Oxigraph", "SPARQL 18.6: the variable of GRAPH is joined to what is inside, evaluated alone; it is put in, seen by MINUS and subqueries", []string{"?z"}},
	{"Oxigraph", "SPARQL 18.6: GRAPH ?g is the union over the graphs there are; it evaluates what has no triples without any", []string{"GRAPH without triples"}},
	{"goRDFlib", "SPARQL 17.3: = and < between kinds are errors; it compares the text", []string{"equality of kinds", "IN"}},
	{"goRDFlib", "SPARQL 18.3.1: a variable has one value in a solution; it takes any subject where it should be a literal, and forgets a second place in one pattern", []string{"literal as subject"}},
	{"goRDFlib", "SPARQL 17.2: a function of an unbound variable or of a wrong kind is an error; it goes on with the text or with nothing", []string{
		"functions", "kind", "regex", "contains", "langMatches", "sameTerm", "xsd:boolean", "SUM", "AVG", "MIN"}},
	{"goRDFlib", "SPARQL 18.4: a sequence, an inverse and a choice of paths keep duplicates and direction; it does not where they are nested", []string{"|"}},
	{"goRDFlib", "SPARQL 18.2.2.6: VALUES is joined with its group; in an OPTIONAL it meets the outside first", []string{"VALUES"}},
	{"goRDFlib", "SPARQL, grammar 60: BIND may name a variable alone; its reader refuses it", []string{"BIND"}},
	{"goRDFlib", "SPARQL 18.5.1.7: a concatenation with an error is an error; it gives the empty string", []string{"GROUP_CONCAT"}},
	{"goRDFlib", "Update 3.2.3 to 3.2.5: no source is an error, which SILENT makes a success; it clears the target", []string{"COPY of nothing"}},
	{"goRDFlib", "SPARQL 18.4: a path of no steps joins every node to itself, literals too; theirs leaves them out", []string{"*", "?"}},
	{"goRDFlib", "SPARQL 18.5 (Distinct): a blank node of a pattern is no column; it tells rows apart by it", []string{"[]"}},
	{"goRDFlib", "SPARQL 16.2.1: blank nodes of a template are new for each solution; they are the same, or keep the label", []string{"blank template"}},
	{"goRDFlib", "SPARQL 9.1: a negated set may have inverse members; it does not tell them apart", []string{"!"}},
	{"goRDFlib", "Update 3.1.3: a statement with an unbound graph is left out; it goes to the default graph", []string{"INTO ?g"}},
	{"goRDFlib", "Update, grammar 147: a datatype may be a prefixed name; INSERT DATA forgets it", []string{"prefixed datatype"}},
}
