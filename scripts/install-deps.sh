#!/usr/bin/env bash
# Installs what the demo and the tests need and the machine lacks: Python with
# numpy, pandas and scipy, and Node.js with npm, whose SPARQL clients the tests
# of the HTTP surface use; all from the distribution. It asks nothing and does
# nothing when all is there. Without apt-get or root it says what is missing.
set -euo pipefail

python=${BANYAN_PYTHON:-/usr/bin/python3}
packages=""
if ! "$python" -c 'import numpy, pandas, scipy' >/dev/null 2>&1; then
	packages="python3 python3-numpy python3-pandas python3-scipy"
fi
command -v node >/dev/null 2>&1 || packages="$packages nodejs"
command -v npm >/dev/null 2>&1 || packages="$packages npm"
if [ -z "$packages" ]; then
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
	echo "install-deps: something is missing, and this is not a Debian machine with root." >&2
	echo "install-deps: install by hand (Debian names): $packages" >&2
	echo "install-deps: or set BANYAN_PYTHON to an interpreter that has numpy, pandas and scipy." >&2
	exit 1
fi
echo "install-deps: installing $packages" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
apt-get install -y -qq --no-install-recommends $packages >/dev/null
"$python" -c 'import numpy, pandas, scipy'
command -v node >/dev/null
command -v npm >/dev/null
