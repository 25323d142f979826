#!/usr/bin/env bash
# Installs the software of both recipes, Dockerfile and kernelsweep.def, on NVIDIA's image of the CUDA toolkit: g++, git,
# Python, uv, and the environment that pyproject.toml pins, with PyCUDA, which is built here against that toolkit.
#
#     install.sh FOLDER    FOLDER holds pyproject.toml; it is deleted at the end
set -euo pipefail
folder=$1

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends ca-certificates g++ git python3 python3-dev python3-venv
rm -rf /var/lib/apt/lists/*

python3 -m venv /opt/uv
/opt/uv/bin/pip install --no-cache-dir uv==0.13.8
ln -s /opt/uv/bin/uv /usr/local/bin/uv

UV_PROJECT_ENVIRONMENT=/opt/kernelsweep uv sync --project "$folder" --python /usr/bin/python3 --no-default-groups --extra gpu --no-cache

cd /
rm -r "$folder"
