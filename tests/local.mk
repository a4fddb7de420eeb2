# Checks of the tree itself, each tested on planted offences.
check_SCRIPTS += tests/arrows/test.sh tests/style/test.sh
EXTRA_DIST += tests/arrows tests/style
