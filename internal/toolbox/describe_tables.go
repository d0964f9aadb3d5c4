package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/schema"
	"interlock/internal/tool"
)

func (b box) describeTables() tool.Tool {
	return b.versioned(tool.New(spec("describe_tables", tool.Reads, taints), func(ctx context.Context, in DescribeTablesIn) (DescribeTablesOut, error) {
		s, err := b.Data.Schema(ctx, dataset(ctx, in.DatasetID))
		if err != nil {
			return DescribeTablesOut{}, err
		}
		note, err := b.fitTables(ctx, &s, "")
		if err != nil {
			return DescribeTablesOut{}, err
		}
		tables, err := tablesShown(s)
		if err != nil {
			return DescribeTablesOut{}, err
		}
		shown := map[string]any{"dataset_id": s.ID, "tables": tables, "relations": append([]schema.Relation{}, s.Relations...)}
		if s.Dialect != "" {
			shown["dialect"] = s.Dialect
		}
		if s.Meaning != nil {
			shown["meaning"] = s.Meaning
		}
		if note != "" {
			shown["note"] = note
		}
		raw, err := json.Marshal(shown)
		if err != nil {
			return DescribeTablesOut{}, err
		}
		return DescribeTablesOut{Schema: raw, Location: location(s), Version: s.Version, chosen: note != ""}, nil
	}))
}

// Varies says that the tables were chosen by the question: the same call may give others for another.
func (o DescribeTablesOut) Varies() bool { return o.chosen }

func (b box) loadDictionary() tool.Tool {
	return b.versioned(tool.New(spec("load_dictionary", tool.Reads, taints), func(ctx context.Context, in LoadDictionaryIn) (LoadDictionaryOut, error) {
		d, err := b.Data.Dictionary(ctx, dataset(ctx, in.DatasetID), in.Path)
		if err != nil {
			return LoadDictionaryOut{}, err
		}
		raw, err := json.Marshal(d)
		return LoadDictionaryOut{Dictionary: raw, Warnings: append([]string{}, d.Warnings...)}, err
	}))
}
