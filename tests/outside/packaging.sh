#!/bin/sh
# The recipes of packaging/ agree with the build; the checks there notice what they are for. usage: packaging.sh SOURCE
set -eu
python3 -B "$1/packaging/check.py" --self-test
python3 -B "$1/packaging/check.py"
python3 -B "$1/packaging/interface.py" --self-test
