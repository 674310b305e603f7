#!/usr/bin/env bash
# Installs what the demo and the tests need and the machine lacks: Python with
# numpy, pandas and scipy from the distribution. It asks nothing and does
# nothing when all is there. Without apt-get or root it says what is missing.
set -euo pipefail

python=${BANYAN_PYTHON:-/usr/bin/python3}
if "$python" -c 'import numpy, pandas, scipy' >/dev/null 2>&1; then
	exit 0
fi
packages="python3 python3-numpy python3-pandas python3-scipy"
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
	echo "install-deps: $python lacks numpy, pandas or scipy, and this is not a Debian machine with root." >&2
	echo "install-deps: install them by hand (Debian names: $packages), or set BANYAN_PYTHON to an interpreter that has them." >&2
	exit 1
fi
echo "install-deps: installing $packages" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
apt-get install -y -qq --no-install-recommends $packages >/dev/null
"$python" -c 'import numpy, pandas, scipy'
