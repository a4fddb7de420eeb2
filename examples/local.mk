# examples/: real programs, with what they need beside their own work in libexamples.
noinst_LTLIBRARIES += libexamples.la
libexamples_la_SOURCES = examples/aid.c examples/aid.h examples/progress.c
libexamples_la_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)

EXAMPLE_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/libclient
EXAMPLE_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
EXAMPLE_LDFLAGS = $(LB_LDFLAGS) -no-install
EXAMPLE_LIBS = liblb.la $(MPI_LIBS) -lm

noinst_PROGRAMS += examples/matmul examples/primes examples/denoise examples/minimal examples/plain
examples_matmul_SOURCES = examples/matmul.c
examples_matmul_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_matmul_CFLAGS = $(EXAMPLE_CFLAGS)
examples_matmul_LDFLAGS = $(EXAMPLE_LDFLAGS)
examples_matmul_LDADD = libexamples.la $(EXAMPLE_LIBS)
examples_primes_SOURCES = examples/primes.c
examples_primes_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_primes_CFLAGS = $(EXAMPLE_CFLAGS)
examples_primes_LDFLAGS = $(EXAMPLE_LDFLAGS)
examples_primes_LDADD = libexamples.la $(EXAMPLE_LIBS)
examples_denoise_SOURCES = examples/denoise.c examples/picture.c examples/picture.h
examples_denoise_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_denoise_CFLAGS = $(EXAMPLE_CFLAGS) $(PNG_CFLAGS) $(JPEG_CFLAGS)
examples_denoise_LDFLAGS = $(EXAMPLE_LDFLAGS)
examples_denoise_LDADD = libexamples.la $(EXAMPLE_LIBS) $(PNG_LIBS) $(JPEG_LIBS)
examples_minimal_SOURCES = examples/minimal.c
examples_minimal_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_minimal_CFLAGS = $(EXAMPLE_CFLAGS)
examples_minimal_LDFLAGS = $(EXAMPLE_LDFLAGS)
examples_minimal_LDADD = $(EXAMPLE_LIBS)
examples_plain_SOURCES = examples/plain.c
examples_plain_CFLAGS = $(EXAMPLE_CFLAGS)
examples_plain_LDADD = $(MPI_LIBS)

EXTRA_DIST += examples/demo.sh
