package forkserver

import _ "github.com/seed-ff860830/banyan/server"
