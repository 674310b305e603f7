package sparql

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed-ff860830/banyan/ttl"
)

const (
	xsdDate     = ttl.XSD + "date"
	xsdDuration = ttl.XSD + "dayTimeDuration"
)

// parseTime reads a dateTime or a date; zone says that it names one. Without
// one it is read as UTC.
func parseTime(text, layout string) (at time.Time, zone, ok bool) {
	body, offset, zone := splitZone(strings.Trim(text, " \t\r\n"))
	loc := time.UTC
	if zone {
		secs, ok := zoneSeconds(offset)
		if !ok {
			return time.Time{}, false, false
		}
		loc = time.FixedZone("", secs)
	}
	day := 0
	if strings.Contains(body, "T24:00:00") { // the end of a day
		body, day = strings.Replace(body, "T24:00:00", "T00:00:00", 1), 1
	}
	if strings.Contains(body, ",") { // Go takes it for a decimal point
		return time.Time{}, false, false
	}
	at, err := time.ParseInLocation(layout, body, loc)
	return at.AddDate(0, 0, day), zone, err == nil
}

// splitZone cuts the zone off the end: "Z" or ±hh:mm.
func splitZone(s string) (body, zone string, ok bool) {
	if body, ok := strings.CutSuffix(s, "Z"); ok {
		return body, "Z", true
	}
	if i := len(s) - 6; i > 0 && (s[i] == '+' || s[i] == '-') && s[i+3] == ':' {
		return s[:i], s[i:], true
	}
	return s, "", false
}

// zoneSeconds returns a zone's distance from UTC.
func zoneSeconds(z string) (int, bool) {
	if z == "Z" {
		return 0, true
	}
	h, err := strconv.ParseUint(z[1:3], 10, 8)
	m, err2 := strconv.ParseUint(z[4:6], 10, 8)
	secs := int(h)*3600 + int(m)*60
	if err != nil || err2 != nil || m > 59 || secs > 14*3600 {
		return 0, false
	}
	if z[0] == '-' {
		secs = -secs
	}
	return secs, true
}

func fnNow(x *exec, _ []ttl.Term) (ttl.Term, error) {
	return ttl.NewTyped(x.now.UTC().Format("2006-01-02T15:04:05.000Z"), ttl.XSDDateTime), nil
}

// timeOf returns the time of a dateTime.
func timeOf(t ttl.Term) (value, error) {
	if t.Kind == ttl.Literal && (t.Datatype == ttl.XSDDateTime || t.Datatype == xsdDate) {
		if v := valueOf(t); v.fam != famBad {
			return v, nil
		}
	}
	return value{}, errEval
}

func timePart(name string) function {
	return func(_ *exec, a []ttl.Term) (ttl.Term, error) {
		v, err := timeOf(a[0])
		if err != nil {
			return ttl.Term{}, err
		}
		n := 0
		switch name {
		case "YEAR":
			n = v.at.Year()
		case "MONTH":
			n = int(v.at.Month())
		case "DAY":
			n = v.at.Day()
		case "HOURS":
			n = v.at.Hour()
		case "MINUTES":
			n = v.at.Minute()
		}
		return intNumber(int64(n)).term(), nil
	}
}

// fnSeconds is a decimal, as written.
func fnSeconds(_ *exec, a []ttl.Term) (ttl.Term, error) {
	v, err := timeOf(a[0])
	if err != nil {
		return ttl.Term{}, err
	}
	s := strconv.Itoa(v.at.Second())
	if ns := v.at.Nanosecond(); ns != 0 {
		frac := strconv.Itoa(1_000_000_000 + ns)[1:]
		s += "." + strings.TrimRight(frac, "0")
	}
	return ttl.NewTyped(s, ttl.XSDDecimal), nil
}

// fnTimezone is a dayTimeDuration: PT0S for UTC.
func fnTimezone(_ *exec, a []ttl.Term) (ttl.Term, error) {
	v, err := timeOf(a[0])
	if err != nil || !v.zoneIn {
		return ttl.Term{}, errEval
	}
	_, secs := v.at.Zone()
	sign := ""
	if secs < 0 {
		sign, secs = "-", -secs
	}
	text := sign + "PT"
	if h := secs / 3600; h > 0 {
		text += strconv.Itoa(h) + "H"
	}
	if m := secs / 60 % 60; m > 0 {
		text += strconv.Itoa(m) + "M"
	}
	if secs == 0 {
		text += "0S"
	}
	return ttl.NewTyped(text, xsdDuration), nil
}

func fnTZ(_ *exec, a []ttl.Term) (ttl.Term, error) {
	if _, err := timeOf(a[0]); err != nil {
		return ttl.Term{}, err
	}
	_, zone, _ := splitZone(strings.Trim(a[0].Value, " \t\r\n"))
	return ttl.NewString(zone), nil
}
