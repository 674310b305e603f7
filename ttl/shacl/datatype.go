package shacl

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-ff860830/banyan/ttl"
)

// integers are the datatypes of whole numbers, with their least and greatest
// values; "" where there is none (XML Schema 1.1 part 2, 3.4).
var integers = map[string][2]string{
	"integer": {}, "nonNegativeInteger": {"0", ""}, "positiveInteger": {"1", ""}, "nonPositiveInteger": {"", "0"}, "negativeInteger": {"", "-1"},
	"long": {"-9223372036854775808", "9223372036854775807"}, "int": {"-2147483648", "2147483647"}, "short": {"-32768", "32767"}, "byte": {"-128", "127"},
	"unsignedLong": {"0", "18446744073709551615"}, "unsignedInt": {"0", "4294967295"}, "unsignedShort": {"0", "65535"}, "unsignedByte": {"0", "255"},
}

const zone = `(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)?`

// forms are the lexical forms of other datatypes.
var forms = map[string]*regexp.Regexp{
	"decimal":           form(`[+-]?(\d+(\.\d*)?|\.\d+)`),
	"double":            form(`[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN`),
	"float":             form(`[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN`),
	"boolean":           form(`true|false|1|0`),
	"duration":          form(`-?P((\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)`),
	"dayTimeDuration":   form(`-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?`),
	"yearMonthDuration": form(`-?P(\d+Y)?(\d+M)?`),
	"dateTime":          form(`-?([1-9]\d{3,}|0\d{3})-\d\d-\d\dT(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?|24:00:00(\.0+)?)` + zone),
	"dateTimeStamp":     form(`-?([1-9]\d{3,}|0\d{3})-\d\d-\d\dT(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?|24:00:00(\.0+)?)(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)`),
	"date":              form(`-?([1-9]\d{3,}|0\d{3})-\d\d-\d\d` + zone),
	"time":              form(`(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?|24:00:00(\.0+)?)` + zone),
	"gYear":             form(`-?([1-9]\d{3,}|0\d{3})` + zone),
	"gYearMonth":        form(`-?([1-9]\d{3,}|0\d{3})-(0[1-9]|1[0-2])` + zone),
	"gMonth":            form(`--(0[1-9]|1[0-2])` + zone),
	"gDay":              form(`---(0[1-9]|[12]\d|3[01])` + zone),
	"gMonthDay":         form(`--(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])` + zone),
	"language":          form(`[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*`),
}

func form(s string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + s + `)$`) }

var wholeNumber = form(`[+-]?\d+`)

// trim takes off the white space that XML Schema lets stand around a value.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }

func isFloat(datatype string) bool {
	return datatype == ttl.XSDDouble || datatype == ttl.XSD+"float"
}

func isNumber(datatype string) bool {
	local, ok := strings.CutPrefix(datatype, ttl.XSD)
	_, whole := integers[local]
	return ok && whole || isFloat(datatype) || datatype == ttl.XSDDecimal
}

// lexical reports whether a literal is written as its datatype wants it. Of
// datatypes that are not known every form is good.
func lexical(t ttl.Term) bool {
	local, ok := strings.CutPrefix(t.DatatypeIRI(), ttl.XSD)
	if !ok {
		return true
	}
	v := trim(t.Value)
	if bounds, ok := integers[local]; ok {
		return wholeNumber.MatchString(v) &&
			(bounds[0] == "" || compareDecimals(v, bounds[0]) >= 0) && (bounds[1] == "" || compareDecimals(v, bounds[1]) <= 0)
	}
	switch local {
	case "hexBinary":
		_, err := hex.DecodeString(v)
		return err == nil
	case "base64Binary":
		_, err := base64.StdEncoding.Strict().DecodeString(strings.ReplaceAll(v, " ", ""))
		return err == nil
	case "date", "dateTime", "dateTimeStamp":
		return forms[local].MatchString(v) && dayExists(v)
	case "duration", "dayTimeDuration", "yearMonthDuration":
		return forms[local].MatchString(v) && !strings.HasSuffix(v, "P") && !strings.HasSuffix(v, "T")
	}
	re, ok := forms[local]
	return !ok || re.MatchString(v)
}

// dayExists reports whether the month of a date has its day.
func dayExists(s string) bool {
	year, rest, _ := strings.Cut(strings.TrimPrefix(s, "-"), "-")
	month, day := int(rest[0]-'0')*10+int(rest[1]-'0'), int(rest[3]-'0')*10+int(rest[4]-'0')
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	days := 31
	switch {
	case slices.Contains([]int{4, 6, 9, 11}, month):
		days = 30
	case month == 2 && leap(year):
		days = 29
	case month == 2:
		days = 28
	}
	return day <= days
}

// leap goes by the last four digits, for 10,000 years are whole cycles of 400.
func leap(year string) bool {
	n := 0
	for _, c := range year[len(year)-4:] {
		n = n*10 + int(c-'0')
	}
	return n%4 == 0 && (n%100 != 0 || n%400 == 0)
}
