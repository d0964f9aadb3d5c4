package sqlpolicy

// typeNames are the types that a cast may name.
var typeNames = names(`json uuid date time timestamp timestamptz timestamp_s timestamp_ms timestamp_ns datetime int integer bigint
	smallint tinyint hugeint uhugeint ubigint uinteger usmallint utinyint int1 int2 int4 int8 int16 int32 int64 int128 uint8 uint16
	uint32 uint64 uint128 float float4 float8 double real decimal numeric dec varchar text string char bpchar nvarchar bool boolean
	logical blob bytea binary varbinary bit bitstring interval timetz bignum varint enum list map struct union oid long short signed
	time_ns variant geometry row array`)

// typeIDs that are never needed and reach into the engine.
var deniedTypeIDs = names(`POINTER AGGREGATE_STATE TABLE LAMBDA ANY UNKNOWN`)

func (w *walker) castType(n *node, s *cteScope, depth int) error {
	if err := w.enter(n, depth); err != nil {
		return err
	}
	if n.kind != '{' {
		return unknown(-1, "a type without parts")
	}
	for f := range n.members() {
		var err error
		switch f.key {
		case "id":
			if err = wantKind(&f.value, '"'); err == nil && deniedTypeIDs[f.value.text] {
				err = deny(RuleType, -1, "Use an ordinary SQL type.", "The type %s is not allowed.", f.value.text)
			}
		case "type_info":
			err = w.typeInfo(&f.value, s, depth+1)
		default:
			err = unknown(-1, "type field %s", f.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) typeInfo(n *node, s *cteScope, depth int) error {
	if n.isNull() {
		return nil
	}
	switch kind := n.str("type"); kind {
	case "DECIMAL_TYPE_INFO", "STRING_TYPE_INFO", "ENUM_TYPE_INFO", "GENERIC_TYPE_INFO", "INTEGER_LITERAL_TYPE_INFO":
		return plainField(n)
	case "LIST_TYPE_INFO", "ARRAY_TYPE_INFO", "STRUCT_TYPE_INFO":
		return w.nestedType(n, s, depth)
	case "UNBOUND_TYPE_INFO":
		return w.unboundType(n, s, depth)
	default:
		return unknown(-1, "type %s", kind)
	}
}

func (w *walker) nestedType(n *node, s *cteScope, depth int) error {
	for f := range n.members() {
		var err error
		switch f.key {
		case "type", "alias", "extension_info", "size":
			err = plainField(&f.value)
		case "child_type":
			err = w.castType(&f.value, s, depth+1)
		case "child_types":
			for c := range f.value.elements() {
				if err = wantKind(c.get("first"), '"'); err == nil {
					err = w.castType(c.get("second"), s, depth+1)
				}
				if err == nil && len(c.kids) != 2 {
					err = unknown(-1, "a field of a type")
				}
				if err != nil {
					break
				}
			}
		default:
			err = unknown(-1, "type field %s", f.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unboundType is a type by name, which a catalog could answer.
func (w *walker) unboundType(n *node, s *cteScope, depth int) error {
	for f := range n.members() {
		var err error
		switch f.key {
		case "type", "alias", "extension_info":
			err = plainField(&f.value)
		case "name":
			if err = wantKind(&f.value, '"'); err == nil && !w.words.types[fold(f.value.text)] {
				err = deny(RuleType, -1, "Use an ordinary SQL type.", "There is no type %s that may be used here.", f.value.text)
			}
		case "catalog", "schema":
			if err = wantKind(&f.value, '"'); err == nil && f.value.text != "" {
				err = deny(RuleType, -1, "Name the type alone.", "A type with a schema in front is not allowed.")
			}
		case "user_type_modifiers":
			err = w.values(&f.value, s, depth)
		default:
			err = unknown(-1, "type field %s", f.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) values(n *node, s *cteScope, depth int) error {
	for v := range n.elements() {
		if err := w.value(v, s, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// value walks a constant.
func (w *walker) value(n *node, s *cteScope, depth int) error {
	if n.kind != '{' {
		return unknown(-1, "a constant without parts")
	}
	for f := range n.members() {
		var err error
		switch f.key {
		case "type":
			err = w.castType(&f.value, s, depth+1)
		case "is_null":
			err = wantKind(&f.value, 't', 'f')
		case "value":
			err = plainField(&f.value)
		default:
			err = unknown(-1, "constant field %s", f.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
