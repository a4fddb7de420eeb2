# docs/: what people read.  Pages of a program or library are named by its room.
dist_man_MANS += docs/man/slurm-lb.7 docs/man/lb-balancer.8
EXTRA_DIST += docs/architecture.md docs/environment.md docs/figures.md docs/denoised.png docs/pictures/balance.svg

# tests/docs looks for what the documents name, in a distribution too.
check_SCRIPTS += tests/docs/tutorial.sh
EXTRA_DIST += docs/tutorial.md tests/docs/check tests/docs/test.sh tests/docs/tutorial.sh
EXTRA_DIST += tests/docs/figures.sh docs/internals
