#!/bin/sh
# Builds and installs petal against a checkout of the Calyx compiler, in place of the published crates:
#
#     integrations/calyx/install.sh CHECKOUT [--root DIR] [--debug]
#
# petal goes to DIR/bin [default: ~/.cargo, or $CARGO_HOME], and `petal --version` names the checkout's commit. No file of
# petal's or of the checkout changes: a copy of petal is built in the target folder (CARGO_TARGET_DIR, or target).
# Where the crates are there already, it needs no network (CARGO_NET_OFFLINE=true).
set -eu

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

checkout='' root=${CARGO_HOME:-$HOME/.cargo} profile=release
while [ $# -gt 0 ]; do
    case $1 in
        --root) [ $# -gt 1 ] || fail "--root needs a folder"; root=$2; shift ;;
        --debug) profile=dev ;;
        -*) fail "there is no option $1" ;;
        *) [ -z "$checkout" ] || fail "name one checkout"; checkout=$1 ;;
    esac
    shift
done
[ -n "$checkout" ] || fail "name the folder of the checkout: install.sh CHECKOUT"
checkout=$(cd "$checkout" && pwd)
for crate in ir utils opt frontend stdlib backend; do
    [ -f "$checkout/calyx/$crate/Cargo.toml" ] || fail "$checkout is no checkout of Calyx: calyx/$crate is not there"
done
petal=$(cd "$(dirname "$0")/../.." && pwd)

# The commit, and whether the compiler is as it was committed. A copy without its history has none.
commit=${PETAL_CALYX_COMMIT:-}
if [ -z "$commit" ] && [ "$(git -C "$checkout" rev-parse --show-toplevel 2>/dev/null)" = "$checkout" ]; then
    commit=$(git -C "$checkout" rev-parse --short=9 HEAD)
    [ -z "$(git -C "$checkout" status --porcelain -- calyx primitives)" ] || commit="$commit with changes"
fi

# The copy has its own Cargo.lock: that of petal is of the published crates.
target=${CARGO_TARGET_DIR:-$petal/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)/calyx-checkout
copy=$target/petal
mkdir -p "$copy/.cargo"
(cd "$petal" && tar -cf - --exclude=./target --exclude=./.git --exclude=petal-out --exclude=./.cargo .) | (cd "$copy" && tar -xf -)
{
    echo '[patch.crates-io]'
    for crate in ir utils opt frontend stdlib backend; do
        printf 'calyx-%s = { path = "%s/calyx/%s" }\n' "$crate" "$checkout" "$crate"
    done
} > "$copy/.cargo/config.toml"
(cd "$copy" && PETAL_CALYX_COMMIT=$commit CARGO_TARGET_DIR=$target/build cargo build --profile "$profile" --bin petal)
case $profile in
    dev) built=debug ;;
    *) built=$profile ;;
esac
mkdir -p "$root/bin"
cp "$target/build/$built/petal" "$root/bin/petal.new"
mv "$root/bin/petal.new" "$root/bin/petal"
echo "installed $root/bin/petal:"
"$root/bin/petal" --version
