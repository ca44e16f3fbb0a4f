#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Fetches the sources that firmware is built from into FOLDER, one folder each, by apt and cargo, and checks every archive
# against sources.list. What is there already is left alone.
#
#     fetch.sh [--list FILE] FOLDER [NAME...]
set -euo pipefail
list=$(dirname "$0")/sources.list
if [ "$1" = --list ]; then list=$2 && shift 2; fi
list=$(realpath "$list")
mkdir -p "$1" && folder=$(cd "$1" && pwd) && shift
work=""
trap 'rm -rf "$work"' EXIT

main() {
    local name kind package version archive sum within
    while read -r name kind package version archive sum within; do
        if [ $# -gt 0 ] && ! printf '%s\n' "$@" | grep -qx "$name"; then continue; fi
        if [ "$(cat "$folder/$name.sha256" 2>/dev/null)" = "$sum" ]; then continue; fi
        work=$(mktemp -d "$folder/.fetch.XXXXXX")
        "fetch_by_$kind" "$package" "$version" "$archive"
        if ! printf '%s  %s\n' "$sum" "$work/$archive" | sha256sum --check --status; then
            echo "error: $archive is not the archive that $list names" >&2
            exit 1
        fi
        mkdir "$work/tree"
        tar -xf "$work/$archive" --strip-components=1 -C "$work/tree"
        rm -rf "${folder:?}/$name"
        mv "$work/tree/$within" "$folder/$name" 2>/dev/null || mv "$work/tree" "$folder/$name"
        printf '%s\n' "$sum" >"$folder/$name.sha256"
        rm -rf "$work"
        echo "fetched $name from $package $version"
    done < <(grep -v '^#' "$list")
}

# Debian's archive of sources, read through lists of our own: the system's need not have it switched on.
fetch_by_apt() {
    local package=$1 version=$2
    command -v apt-get >/dev/null || { echo "error: $package comes from Debian: needs apt-get" >&2; exit 1; }
    mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    cat >"$work/apt/parts/source.sources" <<EOF
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
    local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/parts"
        -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update -qq
    (cd "$work" && apt-get "${options[@]}" source -qq --download-only "$package=$version" >/dev/null)
}

# `cargo info` downloads a crate by itself, without what it depends on.
fetch_by_crate() {
    local package=$1 version=$2 archive=$3 home="$work/cargo"
    mkdir -p "$home"
    cp "${CARGO_HOME:-$HOME/.cargo}"/config.toml "$home" 2>/dev/null || true
    (cd "$work" && CARGO_HOME=$home cargo info --quiet "$package@$version" >/dev/null)
    find "$home/registry/cache" -name "$archive" -exec mv {} "$work/$archive" \;
}

main "$@"
