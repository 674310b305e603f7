package results

import "strings"

// Format is a way to write the answer of a query down.
type Format uint8

// The formats. JSON is the zero value, and what a client gets that has no wish.
const (
	JSON Format = iota // SPARQL 1.1 Query Results JSON Format
	XML                // SPARQL Query Results XML Format (Second Edition)
	CSV                // SPARQL 1.1 Query Results CSV: values without types
	TSV                // SPARQL 1.1 Query Results TSV: terms as in Turtle

	numFormats
)

// formatInfo is what the surfaces need to know of a format.
type formatInfo struct {
	name, extension string
	// media holds the registered media type first, then the others that
	// clients ask for and mean the same by.
	media   []string
	content string // the value of the Content-Type header
	boolean bool   // whether it can hold the answer of an ASK
}

// The media types are those of the recommendations and of IANA's registry.
// Both XML and JSON are UTF-8 without saying so, but stock clients that see no
// charset beside an XML type of their own guess Latin-1, so it is said.
var formats = [numFormats]formatInfo{
	JSON: {"json", "srj", []string{"application/sparql-results+json", "application/json"}, "application/sparql-results+json; charset=utf-8", true},
	XML:  {"xml", "srx", []string{"application/sparql-results+xml", "application/xml", "text/xml"}, "application/sparql-results+xml; charset=utf-8", true},
	CSV:  {"csv", "csv", []string{"text/csv"}, "text/csv; charset=utf-8; header=present", false},
	TSV:  {"tsv", "tsv", []string{"text/tab-separated-values"}, "text/tab-separated-values; charset=utf-8", false},
}

func (f Format) info() formatInfo {
	if f >= numFormats {
		return formatInfo{name: "unknown"}
	}
	return formats[f]
}

// String returns the format's short name: "json", "xml", "csv" or "tsv".
func (f Format) String() string { return f.info().name }

// MediaType returns the registered media type, without parameters.
func (f Format) MediaType() string {
	if f >= numFormats {
		return ""
	}
	return formats[f].media[0]
}

// ContentType returns the value of the Content-Type header, with the charset.
func (f Format) ContentType() string { return f.info().content }

// HasBoolean reports whether the format can hold the answer of an ASK query:
// the recommendation for CSV and TSV defines none.
func (f Format) HasBoolean() bool { return f.info().boolean }

// Formats returns every format, in the order in which they are offered: to a
// client that takes several alike, the first is given.
func Formats() []Format { return []Format{JSON, XML, CSV, TSV} }

// BooleanFormats returns the formats that can hold the answer of an ASK query.
func BooleanFormats() []Format { return []Format{JSON, XML} }

// FormatByName finds a format by its short name, a media type it is known by
// (parameters are ignored), or its file name extension (srj, srx, csv, tsv)
// with or without the dot. Case does not count.
func FormatByName(name string) (Format, bool) {
	name, _, _ = strings.Cut(name, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	bare := strings.TrimPrefix(name, ".")
	for f, info := range formats {
		if bare == info.name || bare == info.extension {
			return Format(f), true
		}
		for _, m := range info.media {
			if name == m {
				return Format(f), true
			}
		}
	}
	return 0, false
}
