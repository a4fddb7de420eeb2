# Flags of the compiler: warnings as in the house style, sanitizers, coverage.
AC_DEFUN([LB_COMPILER_FLAGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [warnings are errors (the project's own tests)])])
  LB_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 -Wundef -fno-common -fstack-protector-strong"
  AS_IF([test "x$enable_werror" = xyes], [LB_CFLAGS="$LB_CFLAGS -Werror"])
  LB_LDFLAGS="-Wl,-z,relro -Wl,-z,now"
  AC_SUBST([LB_CFLAGS])
  AC_SUBST([LB_LDFLAGS])
])

AC_DEFUN([LB_ENABLE_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with sanitizers (address,undefined)])],
    [], [enable_sanitizers=${enable_sanitizers-no}])
  AS_CASE([$enable_sanitizers],
    [no], [],
    [yes], [LB_SANITIZE="-fsanitize=address,undefined"],
    [LB_SANITIZE="-fsanitize=$enable_sanitizers"])
  AS_IF([test "x$LB_SANITIZE" != x], [
    LB_CFLAGS="$LB_CFLAGS $LB_SANITIZE -fno-omit-frame-pointer -fno-sanitize-recover=all"
    LB_LDFLAGS="$LB_LDFLAGS $LB_SANITIZE"])
  AC_SUBST([LB_SANITIZE])
  AM_CONDITIONAL([SANITIZERS], [test "x$LB_SANITIZE" != x])
])

# The fuzz targets of tests/fuzz, by clang's libFuzzer.  Before LB_ENABLE_SANITIZERS, which it turns on.
AC_DEFUN([LB_ENABLE_FUZZ], [
  AC_ARG_ENABLE([fuzz],
    [AS_HELP_STRING([--enable-fuzz], [build the fuzz targets, with sanitizers (needs CC=clang)])], [], [enable_fuzz=no])
  AS_IF([test "x$enable_fuzz" = xyes], [
    lb_fuzz_cflags=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=fuzzer"
    AC_MSG_CHECKING([whether $CC has libFuzzer])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n) { return !p && n; }]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       AC_MSG_ERROR([--enable-fuzz needs clang and its runtime (Debian: clang, libclang-rt-dev or libclang-rt-14-dev): CC=clang])])
    CFLAGS=$lb_fuzz_cflags
    AS_IF([test "x${enable_sanitizers-no}" = xno], [enable_sanitizers=yes])
    LB_CFLAGS="$LB_CFLAGS -fsanitize=fuzzer-no-link"
    LB_LDFLAGS="$LB_LDFLAGS -fsanitize=fuzzer-no-link"])
  AM_CONDITIONAL([FUZZ], [test "x$enable_fuzz" = xyes])
])

AC_DEFUN([LB_ENABLE_COVERAGE], [
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage], [build for gcov])], [], [enable_coverage=no])
  AS_IF([test "x$enable_coverage" = xyes], [
    LB_CFLAGS="$LB_CFLAGS --coverage -O0"
    LB_LDFLAGS="$LB_LDFLAGS --coverage"])
])
