package toolbox

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// SaveArtifactIn is what save_artifact takes; the machine binds Frames.
type SaveArtifactIn struct {
	From   string  `json:"from" jsonschema:"name of a fetched result"`
	Name   string  `json:"name" jsonschema:"of the file, without an ending"`
	Format string  `json:"format" jsonschema:"csv, parquet, xlsx or json"`
	Frames []Frame `json:"frames,omitempty"`
}

// fileFormats are the formats of files, with the names that models give them.
var fileFormats = map[string]string{"csv": "csv", "parquet": "parquet", "xlsx": "xlsx", "excel": "xlsx", "json": "json"}

func (b box) saveArtifact() tool.Tool {
	return tool.Versioned(tool.New(spec("save_artifact", tool.Writes, taints, framesApart), b.saveResult), resultVersion)
}

func (b box) saveResult(ctx context.Context, in SaveArtifactIn) (MadeOut, error) {
	if b.Files == nil {
		return MadeOut{}, errNoFiles("save_artifact")
	}
	format, known := fileFormats[strings.ToLower(strings.Trim(in.Format, " ."))]
	if !known {
		return MadeOut{}, fault.New(fault.InvalidArguments, "%.40q is no format of files", in.Format).Suggest("Take csv, parquet, xlsx or json.")
	}
	frame, err := resultNamed(in.Frames, in.From)
	if err != nil {
		return MadeOut{}, err
	}
	name := strings.TrimSpace(in.Name)
	if name == "" {
		name = frame.Name
	}
	made, notes, err := b.Files.SaveRows(ctx, File{Name: name, Format: format, Producer: "file", About: []string{strings.ToLower(name)}}, frame.ResultID)
	if err != nil {
		return MadeOut{}, err
	}
	text := madeNote(made, fmt.Sprintf("%s holds all rows of %s", made.Name, frame.Name), fmt.Sprintf("The rows of %s are in %s already", frame.Name, made.Name))
	return MadeOut{
		Name: frameName(strings.TrimSuffix(made.Name, "."+format)), Artifact: versionID(made), made: []event.ArtifactMade{made},
		Note: joinSentences(append([]string{text}, notes[:min(5, len(notes))]...)...),
	}, nil
}
