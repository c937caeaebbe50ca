# SPDX-License-Identifier: MIT
# nomap's front door. "make help" lists the targets; the work is in lab/.

.DEFAULT_GOAL := help
export NOMAP_T0 := $(shell date +%s)
# Notes down beside the results how quiet the machine was.
RECORD := bench/lib/record

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  lab/run --help        run one command on the emulated board"
	@echo "  lab/shell             the same, interactively"
	@echo "  lab/check --list      the tests, to run some of them: lab/check --help"

.PHONY: demo
demo: host-packages ## live-bos: uploads with and without mappings (FULL=1: all populations)
	@$(RECORD) live-bos -- lab/demo $(if $(FULL),--full)

.PHONY: speed
speed: host-packages ## transfer-paths: uploads and downloads by each path (4 minutes)
	@$(RECORD) transfer-paths -- lab/speed

.PHONY: bench-board
bench-board: host-packages ## board-fill: the board's 3D engine beside llvmpipe and softpipe (3 minutes)
	@$(RECORD) board-fill -- lab/bench-board

.PHONY: bench-desktop
bench-desktop: host-packages ## desktop-shares: x11perf and glxgears on the board, on three stacks, and where their time goes (15 minutes)
	@$(RECORD) desktop-shares -- lab/bench-desktop

.PHONY: desktop
desktop: host-packages ## docs/desktop.md: X servers with many pixmaps and glyphs, on three stacks (PIXMAPS=1000 GLYPHS=4000 GL=0)
	@$(RECORD) desktop -- lab/desktop --check $(if $(PIXMAPS),--pixmaps $(PIXMAPS)) $(if $(GLYPHS),--glyphs $(GLYPHS)) $(if $(GL),--gl $(GL))
	@lab/in-root python3 -B bench/glyphstorm/report.py --docs docs build/results/desktop.json

.PHONY: gallery
gallery: host-packages ## docs/gallery.md: scenes by the board, llvmpipe and softpipe
	@lab/gallery --check --docs

.PHONY: glmark2
glmark2: host-packages ## docs/glmark2.md: glmark2 on the board, beside llvmpipe (3 minutes)
	@lab/glmark2 --check --docs

.PHONY: bench-mm
# The results of the parts.
MM_PARTS = $(or $(PARTS),mapstorm selftests brk frag threads)
bench-mm: host-packages ## the kernel's memory management, with and without kernel/mm
	@$(RECORD) $(sort $(patsubst selftests,mm-selftests,$(patsubst counts,mapstorm,$(MM_PARTS)))) -- lab/bench-mm $(PARTS)

.PHONY: check check-all
check: host-packages ## the tests that find most for their minutes (what CI runs)
	@lab/check
check-all: host-packages ## all tests: also the debug kernel, mm kernels, backports, ...
	@lab/check --tier all

.PHONY: build
build: host-packages ## build everything, without running it
	@lab/build all

.PHONY: host-packages
host-packages: ## install what the host itself needs (mmdebstrap, arch-test)
	@lab/host-packages

.PHONY: roots board kernel boot igt bench libdrm
roots: host-packages ## the Debian 13 build and guest roots
	@lab/build roots
board: host-packages ## the emulated board
	@lab/build board
kernel: host-packages ## the patched radeon.ko
	@lab/build kernel
boot: host-packages ## kernel and initramfs of a guest
	@lab/build image boot
igt: host-packages ## the IGT tests
	@lab/build igt
bench: host-packages ## the benchmarks
	@lab/build bench
libdrm: host-packages ## libdrm_radeon with our patches
	@lab/build libdrm

.PHONY: debug backports series deb release live
debug: host-packages ## the debug kernel (KASAN, lockdep, ...), for lab/run --kernel debug
	@lab/build debug
backports: host-packages ## trixie-backports' newest kernel, for lab/run --kernel backports
	@lab/build backports
series: host-packages ## build/series: the driver as patches for the kernel's lists
	@lab/in-root kernel/series.sh /usr/src/linux-source-6.12.tar.xz build/series
PACKAGES := radeon-deb libdrm-deb mesa-deb tools-deb r7xx-deb
deb: host-packages ## build/deb: packages for Debian 13: radeon (DKMS), libdrm_radeon, Mesa, tools, the board (I386=1: Mesa for 32-bit programs, too)
	@lab/build $(PACKAGES) $(if $(I386),mesa-deb-i386)
	@mkdir -p build/deb
	@# Of libdrm, those that the series changes: a machine with i386's libdrm2 would have to change that, too.
	@rm -f build/deb/*.deb
	@cp $(patsubst %,build/%/*.deb,$(filter-out libdrm-deb,$(PACKAGES))) build/libdrm-deb/libdrm-radeon1_*.deb build/libdrm-deb/libdrm-dev_*.deb $(if $(I386),build/mesa-deb-i386/*.deb) build/deb/

release: host-packages ## release/: an apt repository of them, signed with KEY=FILE, a secret OpenPGP key; live image, series, results, sums
	@[ -r "$(KEY)" ] || { echo "make release KEY=FILE: the secret OpenPGP key to sign with (gpg --armor --export-secret-keys ID >FILE)" >&2; exit 2; }
	@packaging/version --released
	@# A release has nobody's key on its stick.
	@SSH_KEY= lab/build $(PACKAGES) live $(if $(I386),mesa-deb-i386)
	@URI="$${URI:-file:$(CURDIR)/release/apt}" lab/in-root packaging/in-copy build/deb/work-release packaging/release release $(PACKAGES:%=build/%) $(if $(I386),build/mesa-deb-i386) <$(KEY)

live: host-packages ## build/live/nomap-live.img, for a USB stick: Debian 13 with our packages (SSH_KEY=FILE: a public key that may log in)
	@SSH_KEY="$(if $(SSH_KEY),$$(cat $(SSH_KEY)))" lab/build live
	@echo "write it to a stick, all of which it replaces: dd if=build/live/nomap-live.img of=/dev/sdX bs=4M conv=fsync"

.PHONY: results
results: ## docs/results.md from build/results
	@lab/in-root python3 bench/lib/results.py

.PHONY: docs
docs: roots ## build/docs/index.html: all documents, and those of the C and Rust sources, as HTML
	@lab/in-root docs/build build/docs

.PHONY: piglit
piglit: host-packages ## all of piglit's quick profiles on the board, and 500 of its tests in a guest (1 to 2 hours)
	@lab/check piglit-all

.PHONY: fuzz
fuzz: host-packages ## random calls, on the debug and the stock kernel (SECONDS=600 SEED=any)
	@lab/fuzz $(or $(SECONDS),600) $(SEED)

.PHONY: fuzz-board
fuzz-board: host-packages ## frames of Mesa with mutations, on the board (SECONDS=600 SEED=1)
	@lab/fuzz-board --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

.PHONY: mm-debug
mm-debug: host-packages ## kernel/mm on a kernel that watches itself (SECONDS=300 SEED=any)
	@lab/mm-debug $(or $(SECONDS),300) $(SEED)

.PHONY: clean distclean
clean: ## remove build/ (the cache stays)
	@[ ! -e build ] || [ -w build ] || { echo "build/ belongs to $$(stat -c %U build), because the lab was run as root: sudo make clean" >&2; exit 1; }
	rm -rf --one-file-system build
distclean: clean ## remove build/ and the cache (roots, images, artifacts)
	@lab/distclean
