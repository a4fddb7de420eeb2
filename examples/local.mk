# examples/: real programs, with what they need beside their own work in libexamples.
noinst_LTLIBRARIES += libexamples.la
libexamples_la_SOURCES = examples/aid.c examples/aid.h examples/progress.c
libexamples_la_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)

EX_CPP = $(AM_CPPFLAGS) -I$(top_srcdir)/libclient
EX_COMPILE = $(LB_CFLAGS) $(MPI_CFLAGS)
EX_LINK = $(LB_LDFLAGS) -no-install
EX_LINK_WITH = liblb.la $(MPI_LIBS) -lm

noinst_PROGRAMS += examples/matmul examples/primes examples/denoise examples/jacobi examples/sor examples/minimal examples/plain
examples_matmul_SOURCES = examples/matmul.c
examples_matmul_CPPFLAGS = $(EX_CPP)
examples_matmul_CFLAGS = $(EX_COMPILE)
examples_matmul_LDFLAGS = $(EX_LINK)
examples_matmul_LDADD = libexamples.la $(EX_LINK_WITH)
examples_primes_SOURCES = examples/primes.c
examples_primes_CPPFLAGS = $(EX_CPP)
examples_primes_CFLAGS = $(EX_COMPILE)
examples_primes_LDFLAGS = $(EX_LINK)
examples_primes_LDADD = libexamples.la $(EX_LINK_WITH)
examples_denoise_SOURCES = examples/denoise.c examples/picture.c examples/picture.h
examples_denoise_CPPFLAGS = $(EX_CPP)
examples_denoise_CFLAGS = $(EX_COMPILE) $(PNG_CFLAGS) $(JPEG_CFLAGS)
examples_denoise_LDFLAGS = $(EX_LINK)
examples_denoise_LDADD = libexamples.la $(EX_LINK_WITH) $(PNG_LIBS) $(JPEG_LIBS)
examples_jacobi_SOURCES = examples/jacobi.c
examples_jacobi_CPPFLAGS = $(EX_CPP)
examples_jacobi_CFLAGS = $(EX_COMPILE)
examples_jacobi_LDFLAGS = $(EX_LINK)
examples_jacobi_LDADD = libexamples.la $(EX_LINK_WITH)
examples_sor_SOURCES = examples/sor.c
examples_sor_CPPFLAGS = $(EX_CPP)
examples_sor_CFLAGS = $(EX_COMPILE)
examples_sor_LDFLAGS = $(EX_LINK)
examples_sor_LDADD = libexamples.la $(EX_LINK_WITH)
examples_minimal_SOURCES = examples/minimal.c
examples_minimal_CPPFLAGS = $(EX_CPP)
examples_minimal_CFLAGS = $(EX_COMPILE)
examples_minimal_LDFLAGS = $(EX_LINK)
examples_minimal_LDADD = $(EX_LINK_WITH)
examples_plain_SOURCES = examples/plain.c
examples_plain_CFLAGS = $(EX_COMPILE)
examples_plain_LDADD = $(MPI_LIBS)

EXTRA_DIST += examples/demo.sh examples/dashboard.sh
