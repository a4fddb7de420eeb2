# policy/: every decision, pure; common/ values only.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
	policy/balance.h \
	policy/nearest.c policy/nearest.h \
	policy/registry.c policy/registry.h
libpolicy_la_CFLAGS = $(LB_CFLAGS)
libpolicy_la_LIBADD = -lm
