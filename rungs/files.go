package rungs

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-ff860830/banyan/internal/errs"
)

// The bounds on a job's files. A path is bounded well below PATH_MAX (4096), so
// that any work directory may stand in front of it; a segment by NAME_MAX.
const (
	MaxFiles       = 1024     // files in one job
	MaxPathBytes   = 1024     // one path, in bytes
	MaxNameBytes   = 255      // one segment of a path, in bytes
	MaxPathDepth   = 16       // segments in one path
	MaxFileBytes   = 64 << 20 // all files of one job together
	maxFaults      = 16       // faults listed in one error
	maxQuotedBytes = 80       // of a name that is shown in an error
)

// CheckFiles returns an Invalid error that names the first file whose path or
// mode is refused, and lists further ones as its parts; nil if all will do.
//
// A path must be relative, made of non-empty segments other than "." and "..",
// valid UTF-8 without control characters, and it must not be, or lie below,
// another file of the list. Nothing is cleaned up or rewritten: a file is
// created under exactly the name that was asked for, or the job is refused
// before anything has been started.
func CheckFiles(files []File) error {
	if len(files) > MaxFiles {
		return errs.New(errs.Invalid, "the job has %d files; at most %d are allowed", len(files), MaxFiles)
	}
	var f faults
	var total int64
	seen := make(map[string]bool, len(files))
	for i, file := range files {
		total += int64(len(file.Data))
		why := pathFault(file.Path)
		switch {
		case why != "":
		case file.Mode&^fs.ModePerm != 0:
			why = "has mode bits other than permissions"
		case seen[file.Path]:
			why = "is given twice"
		}
		if why != "" {
			f.add("/files/", i, "/path", "file "+quote(file.Path)+" "+why)
			continue
		}
		seen[file.Path] = true
	}
	for i, file := range files {
		for p := file.Path; seen[file.Path]; {
			slash := strings.LastIndexByte(p, '/')
			if slash < 0 {
				break
			}
			p = p[:slash]
			if seen[p] {
				f.add("/files/", i, "/path", "file "+quote(file.Path)+" lies below "+quote(p)+", which is a file too")
				break
			}
		}
	}
	if total > MaxFileBytes {
		f.add("/files", -1, "", largestFile(files)+"the files have "+itoa(total)+" bytes together; at most "+itoa(MaxFileBytes)+" are allowed")
	}
	return f.err("check files")
}

// CheckPath returns an Invalid error if p cannot be the path of a file in a
// job's work directory. It is what CheckFiles asks of each path, for paths
// that come from elsewhere: a child's artifacts, a request's URL.
func CheckPath(p string) error {
	if why := pathFault(p); why != "" {
		return errs.New(errs.Invalid, "file %s %s", quote(p), why)
	}
	return nil
}

// pathFault says what is wrong with a path, "" if nothing is.
func pathFault(p string) string {
	switch {
	case p == "":
		return "has no name"
	case len(p) > MaxPathBytes:
		return "has a path of " + itoa(int64(len(p))) + " bytes; at most " + itoa(MaxPathBytes) + " are allowed"
	case !utf8.ValidString(p):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "has a control character in its name"
	case p[0] == '/':
		return "has an absolute path"
	case strings.Count(p, "/") >= MaxPathDepth:
		return "lies more than " + itoa(MaxPathDepth) + " levels deep"
	}
	for segment := range strings.SplitSeq(p, "/") {
		switch {
		case segment == "":
			return "has an empty part in its path"
		case segment == "." || segment == "..":
			return "has " + quote(segment) + " in its path"
		case len(segment) > MaxNameBytes:
			return "has a name of " + itoa(int64(len(segment))) + " bytes; at most " + itoa(MaxNameBytes) + " are allowed"
		}
	}
	return ""
}

// largestFile names the file that an over-size error is most likely about.
func largestFile(files []File) string {
	big := slices.MaxFunc(files, func(a, b File) int { return cmp.Compare(len(a.Data), len(b.Data)) })
	return "file " + quote(big.Path) + " is the largest; "
}
