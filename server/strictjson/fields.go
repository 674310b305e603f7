package strictjson

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-ff860830/banyan/internal/nearest"
)

// field is one member that a struct takes.
type field struct {
	name  string
	index []int
}

// fields are the members that a struct type takes.
type fields struct {
	list   []field
	byName map[string]int
}

// fieldCache holds *fields by reflect.Type: a type's members never change, and
// only the few request types ever come here.
var fieldCache sync.Map

// fieldsOf returns the members of a struct type by its json tags.
func fieldsOf(t reflect.Type) *fields {
	if f, ok := fieldCache.Load(t); ok {
		return f.(*fields)
	}
	f := &fields{byName: map[string]int{}}
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if !sf.IsExported() || sf.Anonymous || sf.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = sf.Name
		}
		f.byName[name] = len(f.list)
		f.list = append(f.list, field{name: name, index: sf.Index})
	}
	got, _ := fieldCache.LoadOrStore(t, f)
	return got.(*fields)
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// isText reports whether v reads itself from text.
func isText(v reflect.Value) bool {
	return v.CanAddr() && reflect.PointerTo(v.Type()).Implements(textUnmarshaler)
}

// mismatch notes that a value is of the wrong type. got is "a string", "null", ….
func (d *decoder) mismatch(v reflect.Value, got string) {
	d.fault("must be %s, not %s", wanted(v), got)
}

// wanted says what a target takes.
func wanted(v reflect.Value) string {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}

// unknownMember says that a member is not known, and which one may be meant.
func unknownMember(name string, known []field) string {
	text := fmt.Sprintf("unknown member %q", clip(name))
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	best := nearest.Of(name, names)
	if best == "" {
		return text
	}
	return fmt.Sprintf("%s; did you mean %q?", text, best)
}
