# docs/: what people read.  Pages of a program or library are named by its room.
dist_man_MANS += docs/man/slurm-lb.7 docs/man/lb-balancer.8
EXTRA_DIST += docs/architecture.md docs/environment.md docs/denoised.png

# tests/docs looks for what the documents name, in a distribution too.
check_SCRIPTS += tests/docs/tutorial.sh
EXTRA_DIST += docs/tutorial.md tests/docs/check tests/docs/test.sh tests/docs/tutorial.sh
EXTRA_DIST += tests/docs/figures.sh docs/internals/README.md docs/internals/cost-profile.md docs/internals/efficiency.md docs/internals/explain.md docs/internals/first-shares.md docs/internals/forecast.md docs/internals/grain.md docs/internals/horizon.md \
	docs/internals/moves.md docs/internals/pairwise.md docs/internals/period.md docs/internals/placement-index.md docs/internals/plans.md \
	docs/internals/profit.md docs/internals/rate-filter.md docs/internals/reports.md docs/internals/scale.md docs/internals/stepped.md docs/internals/stepped-tried.md docs/internals/sync.md docs/internals/threshold.md \
	docs/internals/figures/draw docs/internals/figures/runs.txt docs/internals/figures/19.csv docs/internals/figures/22a.csv docs/internals/figures/22b.csv \
	docs/internals/figures/23.csv docs/internals/figures/24a.csv docs/internals/figures/24b.csv docs/internals/figures/24c.csv \
	docs/internals/figures/19.svg docs/internals/figures/22a.svg docs/internals/figures/22b.svg docs/internals/figures/23.svg \
	docs/internals/figures/24a.svg docs/internals/figures/24b.svg docs/internals/figures/24c.svg
