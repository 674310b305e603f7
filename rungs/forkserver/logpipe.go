package forkserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
)

// Bounds on what one parent may write to the log. What comes after is read
// and dropped, so that a talkative parent never blocks.
const (
	logLine  = 2 << 10
	logTotal = 64 << 10
)

// drainLog logs what a parent prints until the pipe ends. It owns r.
func drainLog(r *os.File, logger *slog.Logger) {
	defer r.Close() // a read end has nothing to lose
	lines := bufio.NewReaderSize(r, logLine)
	left := logTotal
	for left > 0 {
		line, err := lines.ReadSlice('\n')
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		if len(line) > 0 {
			logger.LogAttrs(context.Background(), slog.LevelInfo, "parent prints", slog.String("text", string(line)))
		}
		left -= len(line) + 1
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
	logger.Info("parent prints more than is logged")
	_, _ = io.Copy(io.Discard, lines) // ends with the pipe
}
