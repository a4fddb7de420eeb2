# Checks of the tree itself, each tested on planted offences.
check_SCRIPTS += tests/arrows/test.sh tests/style/test.sh
EXTRA_DIST += tests/arrows/allowed tests/arrows/check tests/arrows/test.sh tests/style/check tests/style/test.sh
EXTRA_DIST += tests/valgrind
