# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# librdmacm in Rust. `make` builds the shipped file, `make demo-soft` and `make demo` show it, `make test` tests it.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
# Completions of zsh.
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DESTDIR ?=
# The folders that `make install` made, for `make uninstall`. Empty: none are noted, as packages want it.
RECORD ?= $(PREFIX)/share/librdmacm-rs/folders
CC ?= cc
CARGO ?= cargo
OBJCOPY ?= objcopy

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
OUT := build
SONAME := librdmacm.so.1
REAL := librdmacm.so.$(VERSION)
MAP := src/export/librdmacm.map
# For another architecture: TARGET= as Rust calls it, with CC, AR and OBJCOPY that go with it.
TARGET ?=
ARCHIVE := target/$(if $(TARGET),$(TARGET)/)release/librdmacm.a

EXPORTS = $(shell sed -n 's/^\t\t\([a-z_0-9]*\);/\1/p' $(MAP))
PRELOAD := librspreload.so
PRELOAD_MAP := rspreload/src/intercept/librspreload.map
PRELOAD_ARCHIVE := target/$(if $(TARGET),$(TARGET)/)release/librspreload.a

INFO := rdmacm-info
INFO_BINARY := target/$(if $(TARGET),$(TARGET)/)release/$(INFO)

# Dates in what is made: the last commit's, or that of the sources as they were packed.
SOURCE_DATE_EPOCH ?= $(shell { [ -e .git ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y Cargo.toml)
export SOURCE_DATE_EPOCH
export CARGO

# What `make install` installs.
all: $(OUT)/$(REAL) $(OUT)/$(PRELOAD) $(OUT)/librdmacm.a $(OUT)/$(INFO)

# The same files wherever they are built (scripts/rustflags).
CARGO_BUILD = flags=$$(scripts/rustflags) && CARGO_ENCODED_RUSTFLAGS=$$flags $(CARGO)

# cargo knows best whether anything changed.
$(ARCHIVE): FORCE
	+$(CARGO_BUILD) rustc --release --locked --lib --crate-type staticlib --target-dir target \
	    $(if $(TARGET),--target $(TARGET))

# Panics abort, so what the precompiled parts of core call to unwind is never called (runtime.rs).
NO_UNWINDING := -Wl,--defsym=_Unwind_Resume=rust_eh_personality

# One link line over the archive: the only way to get symbol versions (docs/architecture.md).
# The library needs libibverbs and libc alone.
LINK = $(CC) $(LDFLAGS) -shared -o $@ -Wl,--gc-sections -Wl,-z,defs -Wl,-z,relro,-z,now -Wl,-z,nodelete \
    -Wl,--as-needed -Wl,--build-id=sha1 $(NO_UNWINDING) -Wl,--no-undefined-version
$(OUT)/unstripped/$(REAL): $(ARCHIVE) $(MAP)
	mkdir -p $(@D)
	$(LINK) -Wl,--whole-archive $(ARCHIVE) -Wl,--no-whole-archive \
	    -Wl,--version-script=$(MAP) -Wl,-soname,$(SONAME) -libverbs -lc
	ln -sf $(REAL) $(@D)/$(SONAME)
	ln -sf $(SONAME) $(@D)/librdmacm.so

# The preload library: the same way, with exactly the calls that it takes from libc. No SONAME: nothing links it. It
# finds the librdmacm that it was built or installed with, unless LD_LIBRARY_PATH names another.
$(PRELOAD_ARCHIVE): FORCE
	+$(CARGO_BUILD) build --release --locked -p rspreload --target-dir target $(if $(TARGET),--target $(TARGET))

$(OUT)/unstripped/$(PRELOAD): $(PRELOAD_ARCHIVE) $(PRELOAD_MAP) $(OUT)/unstripped/$(REAL)
	$(LINK) -Wl,--whole-archive $(PRELOAD_ARCHIVE) -Wl,--no-whole-archive \
	    -Wl,--version-script=$(PRELOAD_MAP) \
	    -Wl,--enable-new-dtags '-Wl,-rpath,$$ORIGIN/..:$$ORIGIN' \
	    -L$(OUT)/unstripped -lrdmacm -lc

# The program opens both libraries when it runs, and links none of them.
$(INFO_BINARY): FORCE
	+$(CARGO_BUILD) rustc --release --locked -p $(INFO) --bin $(INFO) --target-dir target \
	    $(if $(TARGET),--target $(TARGET) -- -C linker=$(firstword $(CC)))

$(OUT)/unstripped/$(INFO): $(INFO_BINARY)
	mkdir -p $(@D)
	cp $< $@

# The shipped files, and their debug information beside them in .debug, where debuggers look for it.
$(OUT)/%: $(OUT)/unstripped/%
	mkdir -p $(OUT)/.debug
	$(OBJCOPY) --only-keep-debug $< $(OUT)/.debug/$*.debug
	chmod 644 $(OUT)/.debug/$*.debug
	$(OBJCOPY) --strip-unneeded --remove-section=.comment --add-gnu-debuglink=$(OUT)/.debug/$*.debug $< $@.part
	mv $@.part $@
	$(if $(filter $(REAL),$*),ln -sf $(REAL) $(OUT)/$(SONAME) && ln -sf $(SONAME) $(OUT)/librdmacm.so)

# The archive for C programs: one object with nothing visible but what the shared library exports, so that
# it can be linked beside other Rust archives.
$(OUT)/librdmacm.a: $(ARCHIVE) $(MAP)
	mkdir -p $(OUT)
	$(CC) -r -nostdlib -o $(OUT)/librdmacm.o -Wl,--gc-sections $(EXPORTS:%=-Wl,-u,%) $(ARCHIVE)
	$(OBJCOPY) --strip-debug --remove-section=.comment --remove-section=.llvmbc --remove-section=.llvmcmd \
	    $(EXPORTS:%=--keep-global-symbol=%) $(OUT)/librdmacm.o
	rm -f $@
	$(AR) rcsD $@ $(OUT)/librdmacm.o

# Install what is built, without building: root needs no cargo. After this `ldconfig`, for a system's own folder.
# install-debug adds the debug information. UNSTRIPPED=yes installs libraries that still have theirs.
install install-debug uninstall:
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' MANDIR='$(MANDIR)' \
	    BINDIR='$(BINDIR)' ZSHDIR='$(ZSHDIR)' \
	    RECORD='$(RECORD)' UNSTRIPPED='$(UNSTRIPPED)' OUT='$(OUT)' VERSION='$(VERSION)' scripts/install $@

# build/librdmacm-rs-VERSION.tar.gz: the sources with the crates of the libraries, which builds offline.
dist:
	scripts/dist

# build/librdmacm-rs.spdx.json: what the libraries are made of.
sbom:
	mkdir -p $(OUT)
	scripts/sbom >$(OUT)/librdmacm-rs.spdx.json

# Packages for Debian and its kind, in build/deb, and for systems with RPM, in build/rpm: from the tarball, offline.
deb: dist
	scripts/deb
rpm: dist
	scripts/rpm

# The prototypes in include/ and the manual pages in man/.
# With CHECK=--check it only compares.
TOOL = $(CARGO) run --quiet --locked --manifest-path tools/Cargo.toml --target-dir target/tools -p
headers:
	$(TOOL) headers -- $(CHECK)

# rdma-sys/src/bindings.rs, from the installed headers of libibverbs.
bindings:
	$(TOOL) bindings -- $(CHECK)

# Without root, guest and hardware; builds only what is missing.
demo-soft:
	@softdev/run --build
	@scripts/demo-soft

demo:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@scripts/demo

# Results go to docs/benchmarks (docs/benchmarks/README.md).
bench:
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@benches/run

bench-lab:
	@scripts/setup test
	@$(MAKE) --no-print-directory all
	@benches/run --lab

test:
	@scripts/setup test
	@tests/run

# The long tests too: newest kernel, every program.
test-all:
	@scripts/setup test
	@tests/run all

clean:
	rm -rf $(OUT)
	$(CARGO) clean

FORCE:
.PHONY: all bench bench-lab bindings clean deb demo demo-soft dist headers install install-debug rpm sbom test test-all uninstall FORCE
# The files between a build's steps stay.
.SECONDARY:
.DELETE_ON_ERROR:
