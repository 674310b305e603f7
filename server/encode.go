package server

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
)

// encode writes v as JSON: members in the order of the struct, maps sorted,
// and '<', '>' and '&' as they are, since no answer is ever put into a page
// unescaped. A float that JSON has no form for becomes null, so that one odd
// figure does not take the whole answer with it.
func encode(v any) ([]byte, error) {
	b, err := marshal(v)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		return marshal(finite(reflect.ValueOf(v)))
	}
	return b, err
}

// marshal is json.Marshal without HTML escapes, ending in a newline.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// members is a JSON object with its members in order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (ms members) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			buf.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		buf.Write(bytes.TrimSpace(name))
		buf.WriteByte(':')
		buf.Write(bytes.TrimSpace(value))
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// finite returns what encodes as v does, but with null for every float that is
// not finite.
func finite(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.CanInterface() {
		switch v.Interface().(type) {
		case json.Marshaler, encoding.TextMarshaler:
			return v.Interface()
		}
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Pointer, reflect.Interface:
		return finite(v.Elem())
	case reflect.Struct:
		return finiteStruct(v)
	case reflect.Map:
		return finiteMap(v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8) {
			break
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = finite(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// finiteMap treats a map's values.
func finiteMap(v reflect.Value) any {
	if v.IsNil() {
		return nil
	}
	m := reflect.MakeMapWithSize(reflect.MapOf(v.Type().Key(), reflect.TypeFor[any]()), v.Len())
	for it := v.MapRange(); it.Next(); {
		value := reflect.New(reflect.TypeFor[any]()).Elem()
		if f := finite(it.Value()); f != nil {
			value.Set(reflect.ValueOf(f))
		}
		m.SetMapIndex(it.Key(), value)
	}
	return m.Interface()
}

// finiteStruct treats a struct's members by their json tags.
func finiteStruct(v reflect.Value) members {
	out := members{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || f.Anonymous && name == "" || tag == "-" {
			continue
		}
		value, err := v.FieldByIndexErr(f.Index)
		if err != nil {
			continue // inside an embedded pointer that is nil
		}
		if leftOut(value, strings.Split(options, ",")) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, member{name: name, value: finite(value)})
	}
	return out
}

// leftOut reports whether omitempty or omitzero leaves a member out.
func leftOut(v reflect.Value, options []string) bool {
	if slices.Contains(options, "omitzero") && v.IsZero() {
		return true
	}
	if !slices.Contains(options, "omitempty") {
		return false
	}
	switch v.Kind() {
	case reflect.Struct:
		return false
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}
