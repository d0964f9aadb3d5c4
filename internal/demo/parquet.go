package demo

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	parquetfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// encodeParquet writes the table as one row group, uncompressed and without
// dictionaries, so that a new version of a codec cannot change the bytes. Columns
// are BIGINT or DECIMAL and have no NULLs.
func (t *table) encodeParquet() ([]byte, error) {
	root, err := t.parquetSchema()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := parquetfile.NewParquetWriter(&out, root, parquetfile.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCreatedBy("interlock demo"), parquet.WithDictionaryDefault(false),
	)))
	group := w.AppendRowGroup()
	for i, c := range t.columns {
		if err := t.writeParquetColumn(group, i); err != nil {
			return nil, errors.Join(fmt.Errorf("column %s: %w", c.name, err), w.Close())
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// parquetSchema describes each column as a 64-bit number, amounts as decimals of it.
func (t *table) parquetSchema() (*schema.GroupNode, error) {
	const noID = -1
	var fields schema.FieldList
	for _, c := range t.columns {
		var logical schema.LogicalType = schema.NoLogicalType{}
		if c.kind == moneyKind {
			logical = schema.NewDecimalLogicalType(12, 2)
		}
		field, err := schema.NewPrimitiveNodeLogical(c.name, parquet.Repetitions.Required, logical, parquet.Types.Int64, 0, noID)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		fields = append(fields, field)
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, noID)
}

// writeParquetColumn writes the cells of column i as the next column of the group.
func (t *table) writeParquetColumn(group parquetfile.SerialRowGroupWriter, i int) error {
	column, err := group.NextColumn()
	if err != nil {
		return err
	}
	values := make([]int64, len(t.rows))
	for r, row := range t.rows {
		if values[r], err = cellAsInt64(row[i]); err != nil {
			return err
		}
	}
	if _, err := column.(*parquetfile.Int64ColumnChunkWriter).WriteBatch(values, nil, nil); err != nil {
		return err
	}
	return column.Close()
}

// cellAsInt64 returns a whole number, or an amount in cents.
func cellAsInt64(cell any) (int64, error) {
	switch v := cell.(type) {
	case int:
		return int64(v), nil
	case money:
		return int64(v), nil
	}
	return 0, fmt.Errorf("a cell is a %T", cell)
}
