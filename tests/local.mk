# Checks of the tree itself, each tested on planted offences.
# They look at no program: `make check TREE_TESTS=` leaves them out where programs are built once more.
TREE_TESTS = tests/arrows/test.sh tests/style/test.sh tests/docs/test.sh tests/docs/figures.sh tests/lib/test.sh
check_SCRIPTS += $(TREE_TESTS)
EXTRA_DIST += tests/arrows/allowed tests/arrows/check tests/arrows/test.sh tests/style/check tests/style/test.sh
EXTRA_DIST += tests/valgrind tests/valgrind.supp

# Debian packages are made of the distribution.
EXTRA_DIST += packaging/policy.conf debian/changelog debian/control debian/copyright debian/liblb-dev.install debian/liblb0.install \
	debian/rules debian/slurm-lb-plugin.install debian/slurm-lb.install debian/slurm-lb.postinst debian/source/format
EXTRA_DIST += tests/package/10-debian.t tests/package/20-admin.t

EXTRA_DIST += tests/model/spin.sh tests/model/moves.pml tests/model/10-moves.t tests/model/steps.pml tests/model/11-steps.t \
	tests/model/sync.pml tests/model/12-sync.t tests/model/pieces.pml tests/model/13-pieces.t \
	tests/model/carry.pml tests/model/14-carry.t tests/model/closing.pml tests/model/15-closing.t tests/model/16-joints.t \
	tests/model/17-votes.t
