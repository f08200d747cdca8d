#!/usr/bin/env bash
# Makes the environment of the program: libraries by hash, and nothing of the repository that it works on.
set -euo pipefail
unset GITHUB_TOKEN MODEL_KEY # of the next step: libraries are installed without them

home="$RUNNER_TEMP/ticketsmith"
source="$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)"

if [ ! -x "$home/bin/ticketsmith" ]; then
    "$PYTHON" -m venv "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$source/requirements.lock"
    # On the path of this environment alone; -I below keeps out the working folder and every PYTHON variable.
    "$home/bin/python" -I -c 'import sys, sysconfig, pathlib
pathlib.Path(sysconfig.get_path("purelib"), "ticketsmith.pth").write_text(sys.argv[1] + "\n")' "$source"
    printf '#!/usr/bin/env bash\nexec "%s/bin/python" -I -c "from bot.cli import main; main()" "$@"\n' "$home" \
        >"$home/bin/ticketsmith"
    chmod +x "$home/bin/ticketsmith"
fi

# The sandbox, on the machine that runs foreign code. Ubuntu 24.04 keeps user namespaces from it by AppArmor.
if [ "$DO" = work ] && command -v sudo >/dev/null; then
    command -v bwrap >/dev/null || { sudo apt-get update -qq && sudo apt-get install -y -qq bubblewrap >/dev/null; }
    if [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
        sudo sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0
    fi
fi
