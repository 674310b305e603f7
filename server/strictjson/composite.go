package strictjson

import (
	"reflect"
	"strconv"
)

// object reads '{…}' into a struct, into a map with string keys, or nowhere.
func (d *decoder) object(v reflect.Value) error {
	put := func(string) (reflect.Value, func()) { return reflect.Value{}, nil }
	switch {
	case !v.IsValid():
	case isText(v):
		d.mismatch(v, "an object")
	case v.Kind() == reflect.Struct:
		put = d.structMembers(v)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		put = d.mapMembers(v)
	default:
		d.mismatch(v, "an object")
	}
	return d.members(put)
}

// members reads an object's members. For each name, put answers where its value
// goes and what is to be done once it is there.
func (d *decoder) members(put func(name string) (reflect.Value, func())) error {
	if err := d.enter(); err != nil {
		return err
	}
	for more := !d.at('}'); more; {
		if !d.at('"') {
			return d.syntax("a member's name must stand here")
		}
		name, err := d.string()
		if err != nil {
			return err
		}
		d.space()
		if !d.at(':') {
			return d.syntax("':' must stand here")
		}
		d.pos++
		d.space()
		if err := d.member(name, put); err != nil {
			return err
		}
		if more, err = d.separator('}'); err != nil {
			return err
		}
	}
	d.leave()
	return nil
}

// member reads one member's value.
func (d *decoder) member(name string, put func(string) (reflect.Value, func())) error {
	d.push(name)
	defer d.pop()
	target, stored := put(name)
	if stored == nil {
		return d.value(target)
	}
	if err := d.element(target); err != nil {
		return err
	}
	stored()
	return nil
}

// structMembers answers where a struct's members go.
func (d *decoder) structMembers(v reflect.Value) func(string) (reflect.Value, func()) {
	known := fieldsOf(v.Type())
	seen := make([]bool, len(known.list))
	return func(name string) (reflect.Value, func()) {
		i, ok := known.byName[name]
		if !ok {
			d.fault("%s", unknownMember(name, known.list))
			return reflect.Value{}, nil
		}
		if seen[i] {
			d.fault("the member is there more than once")
			return reflect.Value{}, nil
		}
		seen[i] = true
		return v.FieldByIndex(known.list[i].index), nil
	}
}

// mapMembers answers where a map's members go.
func (d *decoder) mapMembers(v reflect.Value) func(string) (reflect.Value, func()) {
	v.Set(reflect.MakeMap(v.Type()))
	return func(name string) (reflect.Value, func()) {
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		if v.MapIndex(key).IsValid() {
			d.fault("the member is there more than once")
			return reflect.Value{}, nil
		}
		value := reflect.New(v.Type().Elem()).Elem()
		return value, func() { v.SetMapIndex(key, value) }
	}
}

// array reads '[…]' into a slice or nowhere. An empty array gives an empty
// slice, which is not nil.
func (d *decoder) array(v reflect.Value) error {
	if v.IsValid() && (v.Kind() != reflect.Slice || isText(v)) {
		d.mismatch(v, "an array")
		v = reflect.Value{}
	}
	if v.IsValid() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	if err := d.enter(); err != nil {
		return err
	}
	for i, more := 0, !d.at(']'); more; i++ {
		if err := d.arrayElement(v, i); err != nil {
			return err
		}
		var err error
		if more, err = d.separator(']'); err != nil {
			return err
		}
	}
	d.leave()
	return nil
}

// arrayElement reads the element i and appends it to v.
func (d *decoder) arrayElement(v reflect.Value, i int) error {
	d.push(strconv.Itoa(i))
	defer d.pop()
	if !v.IsValid() {
		return d.value(v)
	}
	e := reflect.New(v.Type().Elem()).Elem()
	if err := d.element(e); err != nil {
		return err
	}
	v.Set(reflect.Append(v, e))
	return nil
}
