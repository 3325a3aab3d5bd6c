# librdmacm in Rust. `make` builds the shipped file, `make demo` shows it, `make test` tests it.

PREFIX ?= /usr/local
MULTIARCH := $(shell cc -print-multiarch 2>/dev/null)
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
CC ?= cc
CARGO ?= cargo
OBJCOPY ?= objcopy
INSTALL ?= install

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
PRELOAD_MAP := rspreload/src/export/librspreload.map
PRELOAD_ARCHIVE := target/$(if $(TARGET),$(TARGET)/)release/librspreload.a
HEADERS := rdma/rdma_cma.h rdma/rdma_cma_abi.h rdma/rdma_verbs.h rdma/rdma_verbs_inline.h rdma/rsocket.h \
    infiniband/acm.h infiniband/ib.h
PAGES3 = $(notdir $(wildcard man/*.3))
PAGES7 = $(notdir $(wildcard man/*.7))

all: $(OUT)/$(REAL) $(OUT)/$(PRELOAD)

# cargo knows best whether anything changed.
$(ARCHIVE): FORCE
	$(CARGO) rustc --release --locked --lib --crate-type staticlib --target-dir target \
	    $(if $(TARGET),--target $(TARGET))

# One link line over the archive: the only way to get symbol versions (docs/architecture.md).
# libgcc is linked in, so that the library needs libibverbs and libc alone.
$(OUT)/$(REAL): $(ARCHIVE) $(MAP)
	mkdir -p $(OUT)
	$(CC) -shared -o $@.part \
	    -Wl,--whole-archive $(ARCHIVE) -Wl,--no-whole-archive -Wl,--gc-sections \
	    -Wl,-z,defs -Wl,-z,relro,-z,now -Wl,-z,nodelete -Wl,--as-needed -Wl,--strip-debug \
	    -Wl,--no-undefined-version -Wl,--version-script=$(MAP) -Wl,-soname,$(SONAME) \
	    -static-libgcc -libverbs -lgcc_eh -lc
	mv $@.part $@
	ln -sf $(REAL) $(OUT)/$(SONAME)
	ln -sf $(SONAME) $(OUT)/librdmacm.so

# The preload library: the same way, with exactly the calls that it takes from libc. No SONAME: nothing links it. It
# finds the librdmacm that it was built or installed with, unless LD_LIBRARY_PATH names another.
$(PRELOAD_ARCHIVE): FORCE
	$(CARGO) build --release --locked -p rspreload --target-dir target $(if $(TARGET),--target $(TARGET))

$(OUT)/$(PRELOAD): $(PRELOAD_ARCHIVE) $(PRELOAD_MAP) $(OUT)/$(REAL)
	$(CC) -shared -o $@.part \
	    -Wl,--whole-archive $(PRELOAD_ARCHIVE) -Wl,--no-whole-archive -Wl,--gc-sections \
	    -Wl,-z,defs -Wl,-z,relro,-z,now -Wl,-z,nodelete -Wl,--as-needed -Wl,--strip-debug \
	    -Wl,--no-undefined-version -Wl,--version-script=$(PRELOAD_MAP) \
	    -Wl,--enable-new-dtags '-Wl,-rpath,$$ORIGIN/..:$$ORIGIN' \
	    -static-libgcc -L$(OUT) -lrdmacm -lgcc_eh -lc
	mv $@.part $@

# The archive for C programs: one object with nothing visible but what the shared library exports, so that
# it can be linked beside other Rust archives.
$(OUT)/librdmacm.a: $(ARCHIVE) $(MAP)
	mkdir -p $(OUT)
	$(CC) -r -nostdlib -o $(OUT)/librdmacm.o -Wl,--gc-sections $(EXPORTS:%=-Wl,-u,%) $(ARCHIVE)
	$(OBJCOPY) --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
	    $(EXPORTS:%=--keep-global-symbol=%) $(OUT)/librdmacm.o
	rm -f $@
	$(AR) rcs $@ $(OUT)/librdmacm.o

$(OUT)/librdmacm.pc: pkgconfig/librdmacm.pc.in FORCE
	mkdir -p $(OUT)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' $< >$@

# After this `ldconfig`, for a system's own folder.
install: all $(OUT)/librdmacm.a $(OUT)/librdmacm.pc
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/rdma \
	    $(DESTDIR)$(INCLUDEDIR)/infiniband $(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man7
	$(INSTALL) -m 755 $(OUT)/$(REAL) $(DESTDIR)$(LIBDIR)/$(REAL)
	ln -sf $(REAL) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/librdmacm.so
	$(INSTALL) -m 644 $(OUT)/librdmacm.a $(DESTDIR)$(LIBDIR)/librdmacm.a
	$(INSTALL) -m 644 $(OUT)/librdmacm.pc $(DESTDIR)$(LIBDIR)/pkgconfig/librdmacm.pc
	for header in $(HEADERS); do \
	    $(INSTALL) -m 644 include/$$header $(DESTDIR)$(INCLUDEDIR)/$$header || exit 1; done
	$(INSTALL) -m 644 $(PAGES3:%=man/%) $(DESTDIR)$(MANDIR)/man3
	$(INSTALL) -m 644 $(PAGES7:%=man/%) $(DESTDIR)$(MANDIR)/man7
	if [ -e $(OUT)/$(PRELOAD) ]; then \
	    $(INSTALL) -D -m 755 $(OUT)/$(PRELOAD) $(DESTDIR)$(LIBDIR)/rsocket/$(PRELOAD); fi

uninstall:
	rm -f $(DESTDIR)$(LIBDIR)/$(REAL) $(DESTDIR)$(LIBDIR)/$(SONAME) $(DESTDIR)$(LIBDIR)/librdmacm.so \
	    $(DESTDIR)$(LIBDIR)/librdmacm.a $(DESTDIR)$(LIBDIR)/pkgconfig/librdmacm.pc \
	    $(DESTDIR)$(LIBDIR)/rsocket/$(PRELOAD) $(HEADERS:%=$(DESTDIR)$(INCLUDEDIR)/%) \
	    $(PAGES3:%=$(DESTDIR)$(MANDIR)/man3/%) $(PAGES7:%=$(DESTDIR)$(MANDIR)/man7/%)
	-rmdir $(DESTDIR)$(LIBDIR)/rsocket $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/rdma \
	    $(DESTDIR)$(INCLUDEDIR)/infiniband 2>/dev/null

# build/librdmacm1-rs_VERSION_ARCHITECTURE.deb
deb:
	scripts/deb

# The prototypes in include/ and the manual pages in man/.
headers:
	$(CARGO) run --quiet --locked -p headers

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
.PHONY: bench bench-lab all install uninstall deb headers demo test test-all clean FORCE
