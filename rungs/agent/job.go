package agent

import (
	"io"
	"time"

	"github.com/seed-ff860830/banyan/rungs"
)

// The bounds on what one job brings back.
const (
	MaxArtifacts     = 64       // artifacts of one job
	MaxArtifactBytes = 32 << 20 // all artifacts of one job together
	MaxSkipped       = 65       // texts about artifacts left behind
)

// openFiles is what a job may have open. It is the usual soft limit of a
// login, and select(2) cannot take more.
const openFiles = 1024

// LimitsFor returns the resource limits for a job with all its limits set.
// Memory is not among them: RLIMIT_AS counts address space, not memory.
func LimitsFor(l rungs.Limits) JobLimits {
	return JobLimits{
		CPUSeconds: int64((l.CPU + time.Second - 1) / time.Second),
		FSize:      l.FilesBytes,
		NoFile:     openFiles,
		NProc:      l.PIDs,
	}
}

// WriteJob writes the frames that give a child its files and its program. It
// writes in pieces of at most a few ChunkBytes, so that a job's files are in
// memory once.
func WriteJob(w io.Writer, job rungs.Job, limits JobLimits) error {
	var buf []byte
	for _, file := range job.Files {
		for data, first := file.Data, true; first || len(data) > 0; first = false {
			n := min(len(data), ChunkBytes)
			frame := File{Op: OpFile, Path: file.Path, Mode: uint32(file.Mode.Perm()), Data: notNil(data[:n]), More: n < len(data)}
			if err := write(w, &buf, frame); err != nil {
				return err
			}
			data = data[n:]
		}
	}
	return write(w, &buf, Job{
		Op: OpJob, Code: job.Code, Args: job.Args, Env: job.Env, Artifacts: job.Artifacts,
		MaxArtifacts: MaxArtifacts, MaxArtifactBytes: MaxArtifactBytes, Limits: limits,
	})
}

// write sends one frame and keeps the buffer for the next.
func write(w io.Writer, buf *[]byte, frame any) (err error) {
	if *buf, err = AppendFrame((*buf)[:0], frame, MaxHostFrame); err != nil {
		return err
	}
	_, err = w.Write(*buf)
	return err
}

// notNil makes an empty file's data "" and not null in JSON.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
