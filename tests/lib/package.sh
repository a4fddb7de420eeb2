# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Debian packages out of the distribution, in $build/package.

package_build() {
  local d=$build/package tarball
  build_main || return
  rm -rf "$d"
  mkdir -p "$d"
  step "package: make dist" "$build/log/package.dist.log" make -C "$build" dist || return
  tarball=$(find "$build" -maxdepth 1 -name 'slurm-lb-*.tar.gz')
  tar -xzf "$tarball" -C "$d" || return
  # The tests are ./run test's.
  # shellcheck disable=SC2016
  step "package: dpkg-buildpackage" "$build/log/package.log" env DEB_BUILD_OPTIONS="nocheck parallel=$build_jobs" \
    sh -c 'cd "$0"/slurm-lb-*/ && exec dpkg-buildpackage -us -uc -b' "$d"
}

run_package() {
  packages_need build package
  package_build || fail 1 "no packages"
  find "$build/package" -maxdepth 1 -name '*.deb' | sort
}
