package agent

// The operations of the protocol.
const (
	OpBoot     = "boot"
	OpLoad     = "load"
	OpSeal     = "seal"
	OpFork     = "fork"
	OpBranch   = "branch"
	OpClose    = "close"
	OpFile     = "file"
	OpJob      = "job"
	OpHello    = "hello"
	OpLoaded   = "loaded"
	OpSealed   = "sealed"
	OpForked   = "forked"
	OpExit     = "exit"
	OpError    = "error"
	OpReady    = "ready"
	OpFail     = "fail"
	OpStarted  = "started"
	OpArtifact = "artifact"
	OpDone     = "done"
)

// Version is the protocol's version, as hello must give it.
const Version = 1

// ExitFailed is the exit code of a child that could not put up a wall. A job
// can exit with it as well: only a fail frame before started says so.
const ExitFailed = 70

// Boot is the first frame to a started agent.
type Boot struct {
	Op    string `json:"op"`
	Walls Walls  `json:"walls"`
}

// Walls say what an agent puts up around itself and its jobs.
type Walls struct {
	Hostname string   `json:"hostname"`
	Seccomp  []byte   `json:"seccomp,omitempty"` // struct sock_filter[], little endian
	Require  []string `json:"require"`           // walls without which nothing runs
}

// Load asks an agent that is not sealed to import modules and run set-up code.
type Load struct {
	Op      string       `json:"op"`
	Modules []LoadModule `json:"modules"`
	Setup   string       `json:"setup,omitempty"`
}

// LoadModule is one module to import.
type LoadModule struct {
	Name string `json:"name"`
}

// Plain is a frame without members beside its op: seal, close, started.
type Plain struct {
	Op string `json:"op"`
}

// Fork asks a sealed agent for a child that runs one job.
type Fork struct {
	Op         string `json:"op"`
	ID         string `json:"id"`
	UID        int    `json:"uid"`
	GID        int    `json:"gid"`
	FilesBytes int64  `json:"files_bytes"`
	Attach     int    `json:"attach"` // cgroup.procs descriptors behind the four
}

// Branch asks a sealed agent for a child that is an agent.
type Branch struct {
	Op string `json:"op"`
	ID string `json:"id"`
}

// File is one chunk of a file for a job's work directory.
type File struct {
	Op   string `json:"op"`
	Path string `json:"path"`
	Mode uint32 `json:"mode,omitempty"`
	Data []byte `json:"data"`
	More bool   `json:"more"`
}

// Job is the program a child runs.
type Job struct {
	Op               string            `json:"op"`
	Code             string            `json:"code"`
	Args             []string          `json:"args,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	Artifacts        []string          `json:"artifacts,omitempty"`
	MaxArtifacts     int               `json:"max_artifacts"`
	MaxArtifactBytes int64             `json:"max_artifact_bytes"`
	Limits           JobLimits         `json:"limits"`
}

// JobLimits are the resource limits a child sets for itself; 0 leaves one as
// it is.
type JobLimits struct {
	CPUSeconds int64 `json:"cpu_s,omitempty"`
	FSize      int64 `json:"fsize,omitempty"`
	NoFile     int64 `json:"nofile,omitempty"`
	NProc      int64 `json:"nproc,omitempty"`
	AS         int64 `json:"as,omitempty"` // address space, bytes
}

// Hello is an agent's first frame.
type Hello struct {
	Protocol    int      `json:"protocol"`
	Python      string   `json:"python"`
	PID         int      `json:"pid"`
	LandlockABI int      `json:"landlock_abi"`
	Walls       []string `json:"walls"`
}

// Loaded reports what a load imported.
type Loaded struct {
	Modules []LoadedModule `json:"modules"`
	SetupMS float64        `json:"setup_ms"`
}

// LoadedModule is one imported module.
type LoadedModule struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	MS      float64 `json:"ms"`
}

// Sealed reports what a parent holds. Each holding is a module's name and its
// version or "".
type Sealed struct {
	Holds         [][2]string `json:"holds"`
	Truncated     bool        `json:"truncated"`
	ResidentBytes int64       `json:"resident_bytes"`
}

// Forked says that a child lives; its pidfd comes with the frame.
type Forked struct {
	ID  string `json:"id"`
	PID int    `json:"pid"`
}

// Exit is the end of a child, as wait4 told it.
type Exit struct {
	ID       string `json:"id"`
	Status   int    `json:"status"`
	UserUS   int64  `json:"user_us"`
	SystemUS int64  `json:"system_us"`
	MaxRSS   int64  `json:"max_rss_bytes"`
}

// Error is an agent's refusal or failure.
type Error struct {
	ID      string `json:"id"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Module  string `json:"module"`
}

// The codes of Error.
const (
	CodeImport      = "import"
	CodeSetup       = "setup"
	CodeNotForkSafe = "not-fork-safe"
	CodeWall        = "wall"
	CodeFork        = "fork"
	CodeSealed      = "sealed"
	CodeProtocol    = "protocol"
)

// Ready says that a forked child is behind its walls.
type Ready struct {
	Walls []string `json:"walls"`
}

// Fail says which step of a child failed before user code.
type Fail struct {
	Step    string `json:"step"`
	Errno   int    `json:"errno"`
	Message string `json:"message"`
}

// Artifact is one chunk of a file that a job leaves behind.
type Artifact struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
	More bool   `json:"more"`
}
