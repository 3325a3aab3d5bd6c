# librdmacm in Rust. `make` builds the shipped file, `make demo` shows it, `make test` tests it.

PREFIX ?= /usr/local
MULTIARCH := $(shell cc -print-multiarch 2>/dev/null)
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
CC ?= cc
CARGO ?= cargo

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
OUT := build
SONAME := librdmacm.so.1
REAL := librdmacm.so.$(VERSION)
MAP := src/export/librdmacm.map
ARCHIVE := target/release/librdmacm.a

all: $(OUT)/$(REAL)

# cargo knows best whether anything changed.
$(ARCHIVE): FORCE
	$(CARGO) build --release --locked

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

demo:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@scripts/demo

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
.PHONY: all demo test test-all clean FORCE
