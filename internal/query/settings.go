package query

import (
	"fmt"
	"os"
)

// openReader opens a dataset for queries: read-only, no files but its own, no
// extensions, nothing that can be switched on again. The order is the one that
// works: spill limits are not enforced when they come with the configuration, and
// once external access is off no folder can be named any more.
func openReader(o openOrder) (*instance, error) {
	in, err := openInstance(o.Path,
		option{"access_mode", "READ_ONLY"},
		option{"threads", fmt.Sprint(o.Threads)},
		option{"memory_limit", fmt.Sprintf("%dMB", o.MemoryMB)},
		option{"autoinstall_known_extensions", "false"},
		option{"autoload_known_extensions", "false"})
	if err != nil {
		return nil, err
	}
	s, err := in.connect()
	for i, path := range o.Files {
		if err == nil {
			err = s.exec(fmt.Sprintf("ATTACH %s AS beside_%d (READ_ONLY)", quoteText(path), i))
		}
	}
	if err == nil {
		err = s.exec(append([]string{
			"SET temp_directory=" + quoteText(o.Scratch),
			fmt.Sprintf("SET max_temp_directory_size='%dMB'", o.SpillMB),
		}, lockSettings...)...)
		s.close()
	}
	if err == nil {
		err = os.Chdir(o.Scratch)
	}
	if err != nil {
		in.close()
		return nil, fmt.Errorf("locking the engine: %w", err)
	}
	return in, nil
}

// lockSettings take from an engine what statements must not reach, for good. They come
// last: nothing can be set or attached after them.
var lockSettings = []string{
	"SET allow_community_extensions=false",
	"SET allow_persistent_secrets=false",
	"SET max_expression_depth=200",
	"SET errors_as_json=true",
	"SET TimeZone='UTC'",
	"SET enable_external_access=false",
	"SET lock_configuration=true",
}
