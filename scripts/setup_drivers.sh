#!/usr/bin/env bash
# Gets the drivers that a machine without a GPU needs: what is unpacked or fetched lies in .drivers/, in this checkout.
# usage: scripts/setup_drivers.sh [vulkan] [swiftshader] [tint] [browser]     (all when none is named); safe to run again
#   vulkan       the Vulkan loader and lavapipe, Mesa's software device: Mesa 25 or newer, because older ones end a
#                shader's loops after 65,535 rounds without a word
#   swiftshader  Google's software device, a second opinion on every shader
#   tint         Chrome's shader compiler as a Node package, to validate shaders as a browser does
#   browser      Chromium, and what drives it from Node, to run kernels in a page
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

GOOD_MESA=25

# The shared libraries that a file needs and the system lacks.
missing_libraries() { ldd "$1" | awk '/not found/ { print $1 }'; }

mesa_is_good() { [ -n "$1" ] && dpkg --compare-versions "$1" ge "$GOOD_MESA"; }

# Unpacks lavapipe from Debian's backports without installing it: the system's own Mesa stays as it is.
unpack_backported_mesa() {
  local folder=$DRIVERS/mesa options library depends
  rm -rf "$folder"
  mkdir -p "$folder/parts" "$folder/lists/partial" "$folder/cache/archives/partial"
  printf 'deb %s bookworm-backports main\n' "$(debian_mirror)" >"$folder/parts/backports.list"
  options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$folder/parts" -o Dir::State::lists="$folder/lists"
    -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root)
  quietly apt-get "${options[@]}" update
  (cd "$folder" && quietly apt-get "${options[@]}" download mesa-vulkan-drivers/bookworm-backports)
  dpkg -x "$folder"/mesa-vulkan-drivers_*.deb "$folder/root"
  library=$(find "$folder/root" -name libvulkan_lvp.so | head -n 1)
  if [ -n "$(missing_libraries "$library")" ]; then
    # Names without versions: the driver asks for a newer libdrm than it uses for software rendering.
    depends=$(dpkg -f "$folder"/mesa-vulkan-drivers_*.deb Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g')
    # shellcheck disable=SC2086
    apt_install $depends || say "lavapipe needs libraries that are not here: $(missing_libraries "$library" | tr '\n' ' ')"
  fi
  rm -rf "$folder"/*.deb "$folder/lists" "$folder/cache" "$folder/parts"
  printf '{"ICD": {"api_version": "1.4.305", "library_path": "%s"}, "file_format_version": "1.0.1"}\n' "$library" >"$folder/icd.json"
}

debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -v security | head -n 1)
  printf '%s' "${mirror:?apt has no Debian mirror set up}"
}

setup_vulkan() {
  local codename candidate installed
  apt_install libvulkan1 || { say "no Vulkan driver set up: run \`bash scripts/setup_drivers.sh vulkan\` as root"; return 1; }
  if [ -f "$DRIVERS/mesa/icd.json" ] && [ -z "$(missing_libraries "$(sed 's/.*"library_path": "\([^"]*\)".*/\1/' "$DRIVERS/mesa/icd.json")")" ]; then return 0; fi
  installed=$(dpkg-query -W -f='${Version}' mesa-vulkan-drivers 2>/dev/null || true)
  if mesa_is_good "$installed"; then return 0; fi
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  if [ "$codename" = bookworm ]; then
    say "unpacking Mesa $GOOD_MESA's lavapipe into .drivers/mesa"
    unpack_backported_mesa
    return
  fi
  apt_install mesa-vulkan-drivers || { say "no software driver set up: run \`bash scripts/setup_drivers.sh vulkan\` as root"; return 1; }
  # `apt-get install` also upgrades: an old system may hold a newer Mesa in its updates.
  candidate=$(apt-cache policy mesa-vulkan-drivers | awk '/Candidate:/ { print $2 }')
  if mesa_is_good "$candidate"; then quietly as_root apt-get -qq install -y --no-install-recommends mesa-vulkan-drivers; fi
}

# Debian's package holds SwiftShader too.
debian_chromium() { . /etc/os-release && [ "$ID" = debian ] && apt_install chromium; }

# Elsewhere chromium is not a package (Ubuntu ships a snap); a Node package carries the same files: unpack_chromium FILE
unpack_chromium() {
  ensure_node || return 1
  mkdir -p "$DRIVERS/node"
  (cd "$DRIVERS/node" && quietly npm install --no-audit --no-fund --ignore-scripts --prefix . @sparticuz/chromium@153)
  node -e '
    const fs = require("fs"), zlib = require("zlib"), packed = process.argv[1];
    process.stdout.write(zlib.brotliDecompressSync(fs.readFileSync(packed)));
  ' "$(find "$DRIVERS/node/node_modules/@sparticuz/chromium" -name "$1" | head -n 1)"
}

setup_swiftshader() {
  local folder=$DRIVERS/swiftshader
  if [ -f /usr/lib/chromium/vk_swiftshader_icd.json ] || [ -f "$folder/vk_swiftshader_icd.json" ]; then return 0; fi
  if debian_chromium; then return 0; fi
  mkdir -p "$folder"
  unpack_chromium swiftshader.tar.br | tar -x -C "$folder"
  [ -f "$folder/vk_swiftshader_icd.json" ]
}

setup_browser() {
  local folder=$DRIVERS/chromium
  ensure_node || return 1
  if ! [ -d "$DRIVERS/node/node_modules/playwright-core" ]; then
    say "fetching the Node package playwright-core into .drivers/node"
    mkdir -p "$DRIVERS/node"
    (cd "$DRIVERS/node" && quietly npm install --no-audit --no-fund --prefix . playwright-core@1.65.1)
  fi
  if command -v chromium >/dev/null && [ -d /usr/lib/chromium ]; then return 0; fi
  if [ -x "$folder/chromium" ] || debian_chromium; then return 0; fi
  say "unpacking Chromium into .drivers/chromium"
  apt_install libnss3 libexpat1 || say "Chromium needs the packages libnss3 and libexpat1"
  mkdir -p "$folder"
  unpack_chromium swiftshader.tar.br | tar -x -C "$folder"
  unpack_chromium chromium.br >"$folder/unpacked"
  chmod +x "$folder/unpacked"
  mv "$folder/unpacked" "$folder/chromium"
}

ensure_node() {
  if command -v node >/dev/null && command -v npm >/dev/null; then return 0; fi
  apt_install nodejs npm || { say "no Node.js: as root, apt-get install nodejs npm"; return 1; }
}

setup_tint() {
  if [ -d "$DRIVERS/node/node_modules/webgpu" ]; then return 0; fi
  ensure_node || return 1
  say "fetching Tint (the Node package webgpu) into .drivers/node"
  mkdir -p "$DRIVERS/node"
  (cd "$DRIVERS/node" && quietly npm install --no-audit --no-fund --prefix . webgpu@0.6.2)
}

status=0
[ $# -gt 0 ] || set -- vulkan swiftshader tint browser
for part in "$@"; do
  case $part in
    vulkan | swiftshader | tint | browser) "setup_$part" || status=1 ;;
    *) say "unknown part '$part': vulkan, swiftshader, tint or browser"; exit 2 ;;
  esac
done
exit $status
